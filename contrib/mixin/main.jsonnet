// What is in rendered/: `jsonnet -S -m rendered main.jsonnet`.
local mixin = import 'mixin.libsonnet';
local note = '# Made from mixin.libsonnet: jsonnet -S -m rendered main.jsonnet\n';
{
  'rules.yml': note + std.manifestYamlDoc(mixin.prometheusRules, quote_keys=false) + '\n',
  'alerts.yml': note + std.manifestYamlDoc(mixin.prometheusAlerts, quote_keys=false) + '\n',
} + {
  [name]: std.manifestJsonEx(mixin.grafanaDashboards[name], '  ') + '\n'
  for name in std.objectFields(mixin.grafanaDashboards)
}
