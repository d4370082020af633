import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { metricsInSources, metricsInTable } from './read-metrics.js';
import { checkExpression } from './read-rules.js';
import { read, readRepository } from './repository.js';

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

const table = metricsInTable(read('infra/alerts/METRICS.md'));
const groups = (parse(read('infra/alerts/packhouse.rules.yaml')) as { groups: { rules: Rule[] }[] }).groups;
const rules = groups.flatMap((group) => group.rules);

describe('the metrics', () => {
  const sources = readRepository()
    .workspaces.filter((workspace) => /^(apps|packages)\//.test(workspace.folder))
    .flatMap((workspace) => workspace.files)
    .filter((file) => !file.isTest)
    .map((file) => file.text);
  const inCode = metricsInSources(sources);

  it('are in METRICS.md, each with its type and labels, and METRICS.md tells of no others', () => {
    expect(inCode.length).toBeGreaterThan(40);
    const told = table.filter((row) => row.name.startsWith('packhouse_'));
    expect([...told].sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual(inCode);
  });

  it('are named as Prometheus wants it: counters end in _total, and only they do', () => {
    for (const { name, type } of inCode) {
      expect(name.endsWith('_total'), `${name} is a ${type}`).toBe(type === 'counter');
      expect(name).not.toMatch(/_(ms|milliseconds|kb|mb|kib|mib)(_|$)/);
    }
  });
});

describe('the alert rules', () => {
  it('have the alerts that an operator cannot do without, each once', () => {
    const names = rules.map((rule) => rule.alert);
    expect(new Set(names).size).toBe(names.length);
    for (const name of `NoNewBundle HeadStalled HeadLagging HolesGrowing QuarantineGrowing UpstreamInvalidResponses UpstreamDown
      ProofsFailing ReorgBelowFinality BundleDamaged StagingNearLimit QueueStuck GatewayErrors ProcessRestarting
      DiskNearlyFull`.split(/\s+/))
      expect(names).toContain(name);
  });

  it.each(rules.map((rule) => [rule.alert, rule] as const))('%s asks for what there is', (_, rule) => {
    expect(checkExpression(rule.expr, table)).toEqual([]);
  });

  it.each(rules.map((rule) => [rule.alert, rule] as const))(
    '%s says what happened and what to do',
    (_, rule) => {
      expect(['page', 'ticket']).toContain(rule.labels.severity);
      if (rule.for !== undefined) expect(rule.for).toMatch(/^\d+[mhd]$/);
      expect(Object.keys(rule.annotations).sort()).toEqual(['description', 'runbook', 'summary']);
      for (const text of Object.values(rule.annotations)) expect(text.length).toBeGreaterThan(20);
      const labels = Object.values(rule.annotations).flatMap((text) => [
        ...text.matchAll(/\$labels\.(\w+)/g),
      ]);
      // A label in a sentence that the expression does not keep would be an empty word.
      for (const [, label = ''] of labels)
        expect(/\bby \([^)]*\)/.test(rule.expr) ? rule.expr : `${rule.expr} job instance`).toContain(label);
    },
  );

  it('name only commands that there are', () => {
    const commands = read('apps/cli/src/cli.ts');
    for (const { annotations } of rules)
      for (const [, command = ''] of (annotations.runbook ?? '').matchAll(/`packhouse (\w+)/g))
        expect(commands, command).toContain(`/${command}.js'`);
  });

  it('the check sees what is wrong', () => {
    const wrong = (expression: string): string[] => checkExpression(expression, table);
    expect(wrong('rate(packhouse_nothing_total[5m]) > 1')).toEqual([
      'there is no metric packhouse_nothing_total',
    ]);
    expect(wrong('packhouse_head_block{kind="logs"} > 1')).toEqual([
      'packhouse_head_block has no label kind',
    ]);
    expect(wrong('sum by (upstream) (packhouse_head_block) > 1')).toEqual([
      'no metric of sum by (upstream) (packhouse_head_block) > 1 has a label upstream',
    ]);
    expect(wrong('packhouse_gateway_request_seconds > 1')).toHaveLength(1);
    expect(wrong('max by (le) (packhouse_gateway_request_seconds_bucket offset 1h) > 0.5')).toEqual([]);
  });
});

describe('reading metrics out of sources', () => {
  it('understands literals, constants, spreads and histograms that are written out by hand', () => {
    const source = `
      const place = ['route', 'kind'] as const;
      const name = 'packhouse_x_seconds';
      metrics.counter('packhouse_a_total', 'Of (a, b), "c".', [...place, 'status']);
      metrics.gauge('packhouse_b', help);
      metrics.gauge('packhouse_e', 'E', ['state'], (gauge) => gauge.set({ state: 'x' }, 1));
      metrics.histogram('packhouse_c_seconds', 'C', ['network'], [0.1, 1]);
      metrics.counter(\`\${name}_bucket\`, 'X', [...place, 'le']);
      metrics.counter(\`\${name}_sum\`, 'X', place);
      other.counter('unrelated', 'Y');`;
    expect(metricsInSources([source])).toEqual([
      { name: 'packhouse_a_total', type: 'counter', labels: ['kind', 'route', 'status'] },
      { name: 'packhouse_b', type: 'gauge', labels: [] },
      { name: 'packhouse_c_seconds', type: 'histogram', labels: ['network'] },
      { name: 'packhouse_e', type: 'gauge', labels: ['state'] },
      { name: 'packhouse_x_seconds', type: 'histogram', labels: ['kind', 'route'] },
    ]);
  });
});
