// What boards, alerts and `fullclock fleet` ask again and again. Counters are taken over 5 minutes, so that scrapes of up to a
// minute apart do.
{
  local config = $._config,
  local of(name, labels='') =
    local both = std.join(',', [it for it in [config.selector, labels] if it != '']);
    if both == '' then name else '%s{%s}' % [name, both],
  // The lowest value that stands for a machine against those of its peers.
  local against_peers(what, record) = [
    {
      record: 'instance_model:fullclock_%s:ratio' % what,
      expr: '%s * on (job, instance) group_left (%s) %s' % [record, config.peers, of('fullclock_host_info')],
    },
    {
      record: 'model:fullclock_%s:median' % what,
      expr: 'quantile by (%s) (0.5, instance_model:fullclock_%s:ratio)' % [config.peers, what],
    },
    {
      record: 'model:fullclock_%s:count' % what,
      expr: 'count by (%s) (instance_model:fullclock_%s:ratio)' % [config.peers, what],
    },
    {
      record: 'instance_model:fullclock_%s_to_peers:ratio' % what,
      expr: 'instance_model:fullclock_%s:ratio / on (%s) group_left () model:fullclock_%s:median'
            % [what, config.peers, what],
    },
  ],
  prometheusRules+:: {
    groups+: [
      {
        name: 'fullclock',
        rules: [
          {
            record: 'instance_line:fullclock_ledger:ratio_rate5m',
            expr: 'rate(%s[5m]) / ignoring (line) group_left () rate(%s[5m])' % [
              of('fullclock_ledger_cpu_seconds_total', 'line!="capacity"'),
              of('fullclock_ledger_cpu_seconds_total', 'line="capacity"'),
            ],
          },
          {
            record: 'instance_cause:fullclock_ledger:ratio_rate5m',
            expr: 'rate(%s[5m]) / ignoring (line, cause) group_left () rate(%s[5m])' % [
              of('fullclock_ledger_cause_cpu_seconds_total'),
              of('fullclock_ledger_cpu_seconds_total', 'line="capacity"'),
            ],
          },
          {
            record: 'instance:fullclock_busy:ratio_rate5m',
            expr: '1 - sum without (line) (instance_line:fullclock_ledger:ratio_rate5m{line="idle"})',
          },
          // By the cycles of all CPUs where they are counted, which no scrape misses, and the machine works: the clock of waking up says nothing.
          // Else what scrapes saw of busy CPUs.
          {
            record: 'instance:fullclock_clock:ratio_rate5m',
            expr: '(rate(%s[5m]) / rate(%s[5m]) and on (job, instance) instance:fullclock_busy:ratio_rate5m > 0.05) or sum without (quantile) (avg_over_time(%s[5m]))' % [
              of('fullclock_busy_cycles_total'),
              of('fullclock_reference_cycles_total'),
              of('fullclock_clock_ratio', 'quantile="0.5"'),
            ],
          },
        ] + against_peers('clock', 'instance:fullclock_clock:ratio_rate5m')
          + against_peers('speed', of('fullclock_speed_ratio')),
      },
    ],
  },
}
