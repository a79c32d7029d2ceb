// What both boards share.
local source = { type: 'prometheus', uid: '${datasource}' };
{
  variable(name, label, query): {
    name: name,
    type: 'query',
    label: label,
    datasource: source,
    query: { query: query, refId: name },
    multi: true,
    includeAll: true,
    refresh: 2,
  },
  local target(query, legend, extra={}) = {
    datasource: source,
    expr: query,
    legendFormat: legend,
    refId: 'A',
  } + extra,
  // Lines over time; `stack` fills and adds them up.
  lines(title, description, query, legend, unit, stack=false): {
    title: title,
    description: description,
    type: 'timeseries',
    datasource: source,
    targets: [target(query, legend)],
    fieldConfig: {
      defaults: {
        unit: unit,
        custom: {
          drawStyle: 'line',
          lineWidth: 1,
          fillOpacity: if stack then 70 else 0,
          stacking: { mode: if stack then 'normal' else 'none' },
          spanNulls: false,
        },
      },
      overrides: [],
    },
    options: {
      legend: { displayMode: 'list', placement: 'bottom' },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
  },
  // A table of the labels and the value at this moment.
  table(title, description, query, unit): {
    title: title,
    description: description,
    type: 'table',
    datasource: source,
    targets: [target(query, '', { format: 'table', instant: true })],
    fieldConfig: { defaults: { unit: unit }, overrides: [] },
    transformations: [
      { id: 'organize', options: { excludeByName: { Time: true, __name__: true } } },
    ],
    options: { showHeader: true },
  },
  // `rows`: lists of panels with the height of each row.
  board(config, title, uid, variables, rows): {
    local placed(panels, height, y) = [
      panels[at] { gridPos: { x: at * std.floor(24 / std.length(panels)), y: y, w: std.floor(24 / std.length(panels)), h: height } }
      for at in std.range(0, std.length(panels) - 1)
    ],
    local after(number) = std.foldl(function(sum, row) sum + row.height, rows[:number], 0),
    local panels = std.flattenArrays([
      placed(rows[number].panels, rows[number].height, after(number))
      for number in std.range(0, std.length(rows) - 1)
    ]),
    title: title,
    uid: uid,
    tags: config.dashboardTags,
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: '1m',
    time: { from: 'now-1h', to: 'now' },
    timezone: 'browser',
    templating: {
      list: [{ name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' }] + variables,
    },
    panels: [panels[at] { id: at + 1 } for at in std.range(0, std.length(panels) - 1)],
  },
}
