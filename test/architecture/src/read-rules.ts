import type { MetricRow } from './read-metrics.js';

/** What PromQL has beside metrics, as far as the rules use it. */
const WORDS = new Set(
  `and or unless on ignoring by without group_left group_right bool offset sum max min count avg
   rate increase changes delta deriv time clamp_min clamp_max absent histogram_quantile max_over_time
   min_over_time avg_over_time predict_linear vector le inf nan scalar label_replace topk`.split(/\s+/),
);
/** Labels that whoever scrapes adds. */
const SCRAPED = ['job', 'instance'];

/** What is wrong with an expression, measured by the metrics that there are. */
export function checkExpression(expression: string, metrics: readonly MetricRow[]): string[] {
  const breaches: string[] = [];
  const used: MetricRow[] = [];
  // Strings, durations in brackets and labels are no metrics.
  const bare = expression.replace(/"[^"]*"/g, '""').replace(/\[[^\]]*\]|\b\d+[smhdwy]\b/g, ' ');
  const names = bare
    .replace(/\{[^}]*\}/g, ' ')
    .replace(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ');
  for (const [name] of names.matchAll(/[a-zA-Z_:][\w:]*/g)) {
    if (WORDS.has(name)) continue;
    const row = getMetric(name, metrics);
    if (row === undefined) breaches.push(`there is no metric ${name}`);
    else used.push(row);
  }
  for (const [, name = '', inside = ''] of bare.matchAll(/([a-zA-Z_:][\w:]*)\s*\{([^}]*)\}/g)) {
    const row = getMetric(name, metrics);
    for (const [, label = ''] of inside.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)) {
      if (row !== undefined && !hasLabel(row, label)) breaches.push(`${name} has no label ${label}`);
    }
  }
  for (const [, inside = ''] of bare.matchAll(/\b(?:by|on|group_left|group_right)\s*\(([^)]*)\)/g)) {
    for (const label of inside
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '')) {
      if (!used.some((row) => hasLabel(row, label)))
        breaches.push(`no metric of ${expression.trim()} has a label ${label}`);
    }
  }
  return breaches;
}

function hasLabel(row: MetricRow, label: string): boolean {
  return (
    row.labels.includes(label) || SCRAPED.includes(label) || (row.type === 'histogram' && label === 'le')
  );
}

function getMetric(name: string, metrics: readonly MetricRow[]): MetricRow | undefined {
  const whole = metrics.find((row) => row.name === name && row.type !== 'histogram');
  const series = name.replace(/_(bucket|sum|count)$/, '');
  return whole ?? metrics.find((row) => row.type === 'histogram' && series !== name && row.name === series);
}
