// `node infra/grafana/build.mjs [--check]`: writes the dashboards of panels.mjs beside it; --check only names those that differ.
import { readFileSync, writeFileSync } from 'node:fs';
import { DASHBOARDS } from './panels.mjs';

const check = process.argv[2] === '--check';
const SOURCE = { type: 'prometheus', uid: '${source}' };
const PER_ROW = 2;
const WIDTH = 24 / PER_ROW;
const HEIGHT = 8;

for (const [name, dashboard] of Object.entries(DASHBOARDS)) {
  const file = new URL(`${name}.json`, import.meta.url);
  const text = `${JSON.stringify(toGrafana(name, dashboard), null, 2)}\n`;
  if (!check) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    process.stderr.write(
      `infra/grafana/${name}.json is not what panels.mjs says: run node infra/grafana/build.mjs\n`,
    );
    process.exitCode = 1;
  }
}

/** A dashboard as Grafana 10 and later import it, or provision it from a file. */
function toGrafana(name, { title, panels }) {
  return {
    uid: `packhouse-${name}`,
    title: `Packhouse: ${title}`,
    tags: ['packhouse'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    links: [
      {
        type: 'dashboards',
        title: 'Packhouse',
        tags: ['packhouse'],
        asDropdown: true,
        keepTime: true,
        includeVars: true,
      },
    ],
    templating: {
      list: [
        { name: 'source', label: 'Data source', type: 'datasource', query: 'prometheus' },
        {
          name: 'network',
          label: 'Network',
          type: 'query',
          datasource: SOURCE,
          query: { query: 'label_values(packhouse_head_block, network)', refId: 'network' },
          refresh: 2,
          multi: true,
          includeAll: true,
          allValue: '.*',
          current: { text: 'All', value: '$__all' },
        },
      ],
    },
    panels: panels.map(toPanel),
  };
}

function toPanel([title, unit, queries], index) {
  return {
    id: index + 1,
    type: 'timeseries',
    title,
    datasource: SOURCE,
    gridPos: { x: (index % PER_ROW) * WIDTH, y: Math.floor(index / PER_ROW) * HEIGHT, w: WIDTH, h: HEIGHT },
    fieldConfig: { defaults: { unit, custom: { showPoints: 'never' } }, overrides: [] },
    options: {
      legend: { displayMode: 'table', placement: 'right', calcs: ['lastNotNull'] },
      tooltip: { mode: 'multi' },
    },
    targets: Object.entries(queries).map(([legendFormat, expr], at) => ({
      refId: String.fromCharCode(65 + at),
      datasource: SOURCE,
      expr,
      legendFormat,
    })),
  };
}
