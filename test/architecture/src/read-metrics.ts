/** A metric as the code registers it, or as the table tells of it. */
export interface MetricRow {
  name: string;
  type: string;
  /** Sorted. */
  labels: string[];
}

/** The metrics that sources register: calls of counter, count, gauge, histogram and their tallies with a name and labels that can be read. */
export function metricsInSources(sources: readonly string[]): MetricRow[] {
  const found = new Map<string, MetricRow>();
  for (const source of sources) {
    for (const { index, 1: type = '' } of source.matchAll(
      /\.(counter|count|gauge|histogram|tallyCounter|tallyHistogram)\(/g,
    )) {
      const [name = '', , labels = '[]'] = argumentsAt(source, source.indexOf('(', index));
      const text = toText(name, source);
      if (text === undefined || !text.startsWith('packhouse_')) continue;
      // A histogram that is written out by hand is told as one.
      const series = /^(.*)_(bucket|sum|count)$/.exec(text);
      const plain = type === 'count' ? 'counter' : type.replace('tally', '').toLowerCase();
      const row =
        series === null ? { name: text, type: plain } : { name: series[1] as string, type: 'histogram' };
      const names = getLabels(labels, source).filter((label) => label !== 'le');
      found.set(row.name, { ...row, labels: [...new Set(names)].sort() });
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The metrics of METRICS.md: lines as "- histogram `name{label,label}`: …"; what ends in _total is a counter. */
export function metricsInTable(document: string): MetricRow[] {
  return [...document.matchAll(/^- (histogram )?`(\w+)(?:\{([\w,]+)\})?`: /gm)].map(
    ([, histogram, name = '', labels]) => ({
      name,
      type: histogram === undefined ? (name.endsWith('_total') ? 'counter' : 'gauge') : 'histogram',
      labels: labels?.split(',').sort() ?? [],
    }),
  );
}

/** The texts of a call's arguments; `open` is where its bracket stands. */
function argumentsAt(source: string, open: number): string[] {
  const given: string[] = [];
  let depth = 0;
  let from = open + 1;
  let quote = '';
  for (let at = open; at < source.length; at++) {
    const char = source[at] as string;
    if (quote !== '') {
      if (char === '\\') at += 1;
      else if (char === quote) quote = '';
    } else if (`'"\``.includes(char)) quote = char;
    else if ('([{'.includes(char)) depth += 1;
    else if (')]}'.includes(char)) {
      depth -= 1;
      if (depth === 0) return [...given, source.slice(from, at).trim()];
    } else if (char === ',' && depth === 1) {
      given.push(source.slice(from, at).trim());
      from = at + 1;
    }
  }
  return given;
}

/** What a string is: a literal, a template of constants, or a constant of the same file. */
function toText(expression: string, source: string): string | undefined {
  const literal = /^(['"`])([^'"`]*)\1$/.exec(expression);
  if (literal === null) {
    return /^\w+$/.test(expression)
      ? new RegExp(`\\bconst ${expression} = '([^']*)'`).exec(source)?.[1]
      : undefined;
  }
  return (literal[2] as string).replace(/\$\{(\w+)\}/g, (_, name: string) => toText(name, source) ?? '?');
}

/** The labels of an object's members, of an array literal, of one that is spread into it, or of a constant of the same file. */
function getLabels(expression: string, source: string): string[] {
  if (expression.startsWith('{')) {
    return argumentsAt(expression, 0).flatMap((member) => /^\w+/.exec(member)?.[0] ?? []);
  }
  const spread = [...expression.matchAll(/(?:\.\.\.|^)([a-z]\w*)/g)].flatMap(([, name = '']) => {
    const constant = new RegExp(`\\bconst ${name} = (\\[[^\\]]*\\])`).exec(source)?.[1];
    return constant === undefined ? [] : getLabels(constant, source);
  });
  return [...spread, ...[...expression.matchAll(/'(\w+)'/g)].map(([, label = '']) => label)];
}
