{
  grafanaDashboards+:: {
    'fullclock.json': (import 'machine.libsonnet')($._config),
    'fullclock-fleet.json': (import 'fleet.libsonnet')($._config),
  },
}
