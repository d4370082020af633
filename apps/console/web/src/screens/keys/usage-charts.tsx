import { DAY_MS } from '@packhouse/runtime';
import { useState } from 'preact/hooks';
import { CurveButton } from '../../history/curve-button.js';
import type { Answer, Input } from '../../lib/answers.js';
import { formatBytes, formatCount } from '../../lib/format.js';
import { Bars } from '../../parts/bars.js';
import { Select, toPeriods } from '../../parts/fields.js';
import { Read } from '../../parts/states.js';
import { Table } from '../../parts/table.js';

const PERIODS = toPeriods([7, 30, 90]);

/** Usage by day, as a chart, and by method, as a table. */
export function UsageCharts(given: { name: 'own/usage' | 'keys/usage'; input?: Input<'keys/usage'> }) {
  const [since, setSince] = useState('30d');
  const { name, input } = given;
  return (
    <>
      <h2>Usage</h2>
      <Select label="Last" value={since} options={PERIODS} choose={setSince} />{' '}
      <CurveButton of={name === 'own/usage' ? { own: true } : { key: String(input?.key) }} figure="calls" />
      <Read name={name} input={{ ...input, since, by: 'day' }} everyMs={30_000}>
        {(usage) => <Bars label="Units by day" rows={fillDays(usage)} />}
      </Read>
      <Read name={name} input={{ ...input, since, by: 'method' }} everyMs={30_000}>
        {({ rows }) => (
          <Table
            label="Usage by method"
            rows={rows}
            keyOf={(row) => row.name}
            empty="No requests in this period."
            numbers={['Requests', 'Units', 'Errors', 'Data sent']}
            columns={{
              Method: (row) => <bdi>{row.name}</bdi>,
              Requests: (row) => formatCount(row.requests),
              Units: (row) => formatCount(row.units),
              Errors: (row) => formatCount(row.errors),
              'Data sent': (row) => formatBytes(row.bytes),
            }}
          />
        )}
      </Read>
    </>
  );
}

/** Includes days without use. */
function fillDays({ since, until, rows }: Answer<'own/usage'>): { name: string; value: number }[] {
  const units = new Map(rows.map((row) => [row.name, row.units]));
  const [first, last] = [Date.parse(since), Date.parse(until)];
  return Array.from({ length: Math.round((last - first) / DAY_MS) + 1 }, (_, index) => {
    const name = new Date(first + index * DAY_MS).toISOString().slice(0, 10);
    return { name, value: units.get(name) ?? 0 };
  });
}
