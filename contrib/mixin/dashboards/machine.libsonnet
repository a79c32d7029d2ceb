local board = import 'board.libsonnet';
function(config)
  board.board(
    config,
    'fullclock',
    'fullclock',
    [board.variable('instance', 'Machine', 'label_values(fullclock_build_info, instance)')],
    [
      {
        height: 10,
        panels: [
          board.lines(
            "Where the CPUs' time went",
            'The ledger without idle time. `fullclock explain NAME` says what a line is.',
            'sum by (line) (instance_line:fullclock_ledger:ratio_rate5m{instance=~"$instance",line!~"idle|overlap"})',
            '{{line}}',
            'percentunit',
            stack=true,
          ),
        ],
      },
      {
        height: 8,
        panels: [
          board.lines(
            'Clock of busy CPUs',
            'Over the nominal clock: the lowest, the median and the highest of the last minute.',
            'fullclock_clock_ratio{instance=~"$instance"}',
            '{{instance}} {{quantile}}',
            'percentunit',
          ),
          board.lines(
            'What holds the clock down',
            'Of the time of all CPUs. `perhaps` is a hint.',
            'instance_cause:fullclock_ledger:ratio_rate5m{instance=~"$instance"} > 0.001',
            '{{instance}} {{cause}}',
            'percentunit',
          ),
        ],
      },
      {
        height: 8,
        panels: [
          board.lines(
            'Kernel threads',
            'Shares of one CPU; above 2 % only.',
            'rate(fullclock_kernel_thread_cpu_seconds_total{instance=~"$instance"}[$__rate_interval]) > 0.02',
            '{{instance}} {{thread}}',
            'percentunit',
          ),
          board.lines(
            'Throttled by heat',
            'Seconds in each second, all packages or cores added up.',
            'rate(fullclock_throttle_seconds_total{instance=~"$instance"}[$__rate_interval])',
            '{{instance}} {{level}}',
            'none',
          ),
        ],
      },
      {
        height: 8,
        panels: [
          board.lines(
            'Waiting for a CPU',
            'Tasks that are runnable and not running: demand that the CPUs do not meet.',
            'rate(fullclock_run_queue_wait_seconds_total{instance=~"$instance"}[$__rate_interval])',
            '{{instance}}',
            'none',
          ),
          board.lines(
            'Timer ticks',
            'All CPUs together. An isolated CPU with one task should have one a second.',
            'rate(fullclock_ticks_total{instance=~"$instance"}[$__rate_interval])',
            '{{instance}}',
            'cps',
          ),
        ],
      },
      {
        height: 8,
        panels: [
          board.table(
            'Findings',
            'Of an audit that is at most a minute old.',
            'fullclock_finding{instance=~"$instance"}',
            'none',
          ),
        ],
      },
    ],
  )
