// rules_test.yml tests each of them. `fullclock explain NAME` says what a line of the ledger or a check means and how to fix it.
{
  local config = $._config,
  local of(name, labels='') =
    local both = std.join(',', [it for it in [config.selector, labels] if it != '']);
    if both == '' then name else '%s{%s}' % [name, both],
  local rate(name, labels, over='10m') = 'rate(%s[%s])' % [of(name, labels), over],
  // Two runs of fullclock-metrics.timer, with the delay that it adds at random: in a shorter time counters of the textfile may stand still
  // although they rise, and a state may be that of one run.
  local two_runs = '25m',
  // A line of the ledger as a share of the time of all CPUs.
  local share(line) =
    'sum without (line) (%s) / sum without (line) (%s)' % [
      rate('fullclock_ledger_cpu_seconds_total', 'line="%s"' % line),
      rate('fullclock_ledger_cpu_seconds_total', 'line="capacity"'),
    ],
  local line(name) = 'sum without (line) (%s)' % rate('fullclock_ledger_cpu_seconds_total', 'line="%s"' % name),
  // The time in which CPUs were not idle; all of it where idle time is unknown.
  local busy = '(%s - (%s or 0 * %s))' % [line('capacity'), line('idle'), line('capacity')],
  local alert(name, expr, wait, severity, summary, description) = {
    alert: name,
    expr: expr,
    'for': wait,
    labels: { severity: severity },
    annotations: { summary: summary, description: description },
  },
  local below_peers(what, name, about) = alert(
    name,
    'instance_model:fullclock_%s_to_peers:ratio < %s and on (%s) model:fullclock_%s:count >= %s'
    % [what, config.belowPeers, config.peers, what, config.fewestPeers],
    '1h',
    'warning',
    '{{ $labels.instance }}: %s is {{ $value | humanizePercentage }} of that of its peers' % about,
    '`fullclock fleet` says what slow machines have in common, `fullclock audit` on the host what holds its clock down.',
  ),
  prometheusAlerts+:: {
    groups+: [
      {
        name: 'fullclock',
        rules: [
          alert(
            'FullclockFindings',
            'max by (job, instance, id) (%s) > 0' % of('fullclock_finding', 'severity=~"high|critical"'),
            two_runs,
            'warning',
            '{{ $labels.instance }}: {{ $labels.id }} slows the CPUs',
            '`fullclock explain {{ $labels.id }}` says why it matters, `fullclock audit` how to fix it.',
          ),
          // Of the time in which CPUs were not idle, so that a lightly loaded host alerts too. Below 0.5 % busy there is too
          // little time to judge.
          alert(
            'FullclockStoppedClock',
            '%s / %s > 0.05 and %s > 0.005 * %s' % [line('stopped-clock'), busy, busy, line('capacity')],
            '10m',
            'critical',
            '{{ $labels.instance }}: the clock stood still for {{ $value | humanizePercentage }} of the busy time of the CPUs',
            'Clock modulation, forced idle or system management mode: `fullclock audit` says which. The machine may be too hot: find out who stopped the clock first.',
          ),
          alert(
            'FullclockSlowClock',
            share('slow-clock') + ' > 0.1',
            '30m',
            'warning',
            '{{ $labels.instance }}: {{ $value | humanizePercentage }} of the capacity of all CPUs is lost to a clock below the reference clock',
            'Governor, limits, heat or power: fullclock_ledger_cause_cpu_seconds_total names the causes. AVX-512 and AMX code runs at a lower clock by design, as `cause not visible`.',
          ),
          alert(
            'FullclockStolen',
            share('stolen') + ' > 0.05',
            '10m',
            'warning',
            '{{ $labels.instance }}: the hypervisor takes {{ $value | humanizePercentage }} of the CPUs',
            'The host has more virtual CPUs than it can run, or the machine has a quota.',
          ),
          // Threads that wait by polling: kipmi of ipmi_si, pktgen's, and io_uring's before Linux 5.12. The work of others
          // (kworker, kswapd, ksoftirqd, md_raid) is work that somebody requested.
          alert(
            'FullclockPollingThread',
            rate('fullclock_kernel_thread_cpu_seconds_total', 'thread=~"kipmi|kpktgend|io_uring-sq"') + ' > 0.1',
            '30m',
            'warning',
            '{{ $labels.instance }}: kernel thread {{ $labels.thread }} polls and takes {{ $value | humanizePercentage }} of a CPU',
            'kipmi polls the management controller while an agent reads sensors. `fullclock ipmi tune` measures which limit pays on this machine. Before Linux 5.4 the thread takes all of a CPU meanwhile, and a limit gives most of it back. Since 5.4 it sleeps between polls, and a limit gives back little: each wait beyond it lasts one tick (1 ms at 1000 Hz, 4 ms at 250 Hz, 10 ms at 100 Hz), so a sweep of the sensors takes longer. Asking less often helps on every kernel.',
          ),
          // The sums of `fullclock metrics` lack CPUs that are offline: one that comes or goes is no event. A new `serve` begins at what the
          // kernel has counted since boot, which can be less than what the one before had added up.
          alert(
            'FullclockThrottled',
            '%s > 0.01 unless on (job, instance) (changes(%s[%s]) > 0 or changes(%s[%s]) > 0)' % [
              rate('fullclock_throttle_seconds_total', 'level="package"', two_runs),
              of('fullclock_online_cpus'),
              two_runs,
              of('fullclock_start_time_seconds'),
              two_runs,
            ],
            two_runs,
            'warning',
            '{{ $labels.instance }}: packages are throttled by heat {{ $value | humanizePercentage }} of the time, added up',
            'Look at fans, air and the power limit; `fullclock watch` shows which package.',
          ),
          below_peers('clock', 'FullclockClockBelowPeers', 'the clock of busy CPUs'),
          below_peers('speed', 'FullclockSpeedBelowPeers', 'the speed of an idle CPU that begins to work'),
          // The finding says that it is no noise; the ratio of cores, that it is worth an alert.
          alert(
            'FullclockSlowerThanBefore',
            '%s < 0.95 and on (job, instance) %s > 0' % [
              of('fullclock_baseline_speed_ratio', 'part=~"single-core|all-cores"'),
              of('fullclock_finding', 'id="slower-than-before"'),
            ],
            '15m',
            'warning',
            '{{ $labels.instance }}: {{ $labels.part }} speed is {{ $value | humanizePercentage }} of that of earlier boots',
            '`fullclock baseline diff` on the host says which change it came with: BIOS, microcode, kernel, settings.',
          ),
          // Only what a privilege or a kernel module of this host would answer: what a hypervisor hides stays unknown for good.
          alert(
            'FullclockCannotSee',
            'sum by (job, instance) (%s) > 0' % of('fullclock_unknown_checks', 'obstacle=~"privilege|module"'),
            '1h',
            'info',
            '{{ $labels.instance }}: {{ $value }} checks lack a privilege or a kernel module',
            '`fullclock audit -v` on the host names what each of them lacks: root, or `modprobe msr`.',
          ),
          // node_exporter goes on showing an old file.
          alert(
            'FullclockTextfileOld',
            'time() - node_textfile_mtime_seconds{file=~".*fullclock[^/]*\\\\.prom"} > 3600',
            '10m',
            'warning',
            '{{ $labels.instance }}: the metrics of fullclock are {{ $value | humanizeDuration }} old',
            '`systemctl status fullclock-metrics.timer fullclock-metrics.service` on the host says why.',
          ),
        ],
      },
    ],
  },
}
