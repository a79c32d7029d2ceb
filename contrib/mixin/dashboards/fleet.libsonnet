local board = import 'board.libsonnet';
function(config)
  local peers = config.peers;
  board.board(
    config,
    'fullclock: fleet',
    'fullclock-fleet',
    [board.variable('peers', 'Peers', 'label_values(fullclock_host_info, %s)' % peers)],
    [
      {
        height: 8,
        panels: [
          board.table(
            'Machines below their peers: clock of busy CPUs',
            "Over the median of machines with the same %s, the lowest first. `fullclock fleet` says what explains them." % peers,
            'bottomk(20, instance_model:fullclock_clock_to_peers:ratio{%s=~"$peers"})' % peers,
            'percentunit',
          ),
          board.table(
            'Machines below their peers: speed of an idle CPU',
            'The same by a short probe, where a CPU was idle.',
            'bottomk(20, instance_model:fullclock_speed_to_peers:ratio{%s=~"$peers"})' % peers,
            'percentunit',
          ),
        ],
      },
      {
        height: 8,
        panels: [
          board.lines(
            'Median clock by model',
            'Of busy CPUs, over the nominal clock.',
            'model:fullclock_clock:median{%s=~"$peers"}' % peers,
            '{{%s}}' % peers,
            'percentunit',
          ),
          board.lines(
            'Lost to a slow or stopped clock',
            'Of the time of all CPUs, the 20 machines that lose most.',
            'topk(20, sum by (instance) (instance_line:fullclock_ledger:ratio_rate5m{line=~"slow-clock|stopped-clock"}))',
            '{{instance}}',
            'percentunit',
          ),
        ],
      },
      {
        height: 8,
        panels: [
          board.table(
            'Findings: how many machines have each',
            'Medium and above.',
            'sort_desc(count by (id, severity) (max by (instance, id, severity) (fullclock_finding{severity=~"medium|high|critical"})))',
            'none',
          ),
          board.table(
            'Median clock by BIOS',
            'Where one version is slower than others of the same model, look there first.',
            'sort(quantile by (%s, bios_version) (0.5, instance:fullclock_clock:ratio_rate5m * on (job, instance) group_left (%s, bios_version) fullclock_host_info{%s=~"$peers"}))'
            % [peers, peers, peers],
            'percentunit',
          ),
        ],
      },
      {
        height: 8,
        panels: [
          board.table(
            'Machines by model, firmware and kernel',
            'What the fleet is made of.',
            'sort_desc(count by (%s, bios_version, microcode, kernel) (fullclock_host_info{%s=~"$peers"}))' % [peers, peers],
            'none',
          ),
        ],
      },
    ],
  )
