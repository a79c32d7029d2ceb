// Recording rules, alerts and Grafana boards for the metrics of `fullclock serve` and `fullclock metrics`.
//
// rendered/ holds what this makes with the values of config.libsonnet; `jsonnet -S -m rendered main.jsonnet` renders it again, and
// `cargo xtask served` checks it. Other values:
//   local fullclock = (import 'mixin.libsonnet') + { _config+:: { selector: 'job="db"' } };
(import 'config.libsonnet')
+ (import 'rules/rules.libsonnet')
+ (import 'alerts/alerts.libsonnet')
+ (import 'dashboards/dashboards.libsonnet')
