import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type MetricRow, metricsInTable } from './read-metrics.js';
import { checkExpression } from './read-rules.js';
import { filesUnder, ROOT, read } from './repository.js';

interface Panel {
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets: { expr: string; legendFormat: string }[];
}

const metrics = metricsInTable(read('infra/alerts/METRICS.md'));
const dashboards = filesUnder('infra/grafana')
  .filter((path) => path.endsWith('.json'))
  .map((path) => JSON.parse(read(path)) as { title: string; panels: Panel[] });
const targets = dashboards.flatMap(({ title, panels }) =>
  panels.flatMap((panel) => panel.targets.map((target) => ({ at: `${title}, ${panel.title}`, ...target }))),
);
const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;

/** Functions of counters on what is none, quantiles of what has no buckets, and counters as they are. */
function checkTypes(expr: string, rows: readonly MetricRow[]): string[] {
  return [...expr.matchAll(/(\w+\()?\b((?:packhouse|process|nodejs)_\w+)(?=[{\s),[]|$)/g)].flatMap(
    ([, call = '', name = '']) => {
      const type = rows.find((row) => row.name === name)?.type ?? 'histogram';
      const counted = /^(rate|increase)\($/.test(call);
      if (counted !== (type !== 'gauge')) return [`${name} is a ${type}, with ${call || 'no function'}`];
      const inQuantile = expr.startsWith('histogram_quantile(');
      return inQuantile === name.endsWith('_bucket') ? [] : [`${name} and histogram_quantile do not fit`];
    },
  );
}

describe('the dashboards', () => {
  it('are what their table says', () => {
    const { status, stderr } = spawnSync(process.execPath, ['infra/grafana/build.mjs', '--check'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(dashboards).toHaveLength(5);
  });

  it.each(targets.map((target) => [target.at, target] as const))('%s asks for what there is', (_, target) => {
    expect(checkExpression(target.expr, metrics)).toEqual([]);
    expect(checkTypes(target.expr, metrics)).toEqual([]);
    for (const [, label = ''] of target.legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
      expect(/\bby \([^)]*\)/.test(target.expr) ? target.expr : 'job instance').toContain(label);
    }
  });

  it('the check sees what is wrong', () => {
    expect(checkTypes('sum by (network) (rate(packhouse_head_block[5m]))', metrics)).toHaveLength(1);
    expect(checkTypes('max(packhouse_staged_blocks_total)', metrics)).toHaveLength(1);
    expect(checkTypes('rate(packhouse_rpc_call_seconds_bucket[5m])', metrics)).toHaveLength(1);
    expect(checkTypes('histogram_quantile(0.9, rate(packhouse_rpc_calls_total[5m]))', metrics)).toHaveLength(
      1,
    );
  });

  it.skipIf(!hasPromtool)('have expressions that Prometheus reads (needs prometheus)', () => {
    const rules = targets.map(({ expr }, at) => ({
      record: `panel_${at}`,
      expr: expr.replaceAll('$__rate_interval', '1m').replaceAll('$network', '.*'),
    }));
    const file = join(mkdtempSync(join(tmpdir(), 'dashboards-')), 'panels.json');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
    const { status, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
