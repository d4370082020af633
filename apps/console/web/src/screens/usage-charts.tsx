import { useState } from 'preact/hooks';
import { bytes, count } from '../lib/format.js';
import { useRead } from '../lib/use-read.js';
import { Bars } from '../parts/bars.js';
import { Empty, Shown } from '../parts/states.js';
import { Table } from '../parts/table.js';

interface Usage {
  since: string;
  until: string;
  rows: { name: string; requests: number; units: number; errors: number; bytes: number }[];
}

const DAY_MS = 86_400_000;

/** What was used by day, as a chart, and by method, as a table. */
export function UsageCharts({ name, input = {} }: { name: string; input?: object }) {
  const [since, setSince] = useState('30d');
  const days = useRead<Usage>(name, { ...input, since, by: 'day' }, 30_000);
  const methods = useRead<Usage>(name, { ...input, since, by: 'method' }, 30_000);
  return (
    <>
      <h2>Usage</h2>
      <label class="inline">
        Of the last{' '}
        <select value={since} onChange={(event) => setSince(event.currentTarget.value)}>
          <option value="7d">7 days</option>
          <option value="30d">30 days</option>
          <option value="90d">90 days</option>
        </select>
      </label>
      <Shown reading={days}>{(usage) => <Bars label="Units by day" rows={everyDay(usage)} />}</Shown>
      <Shown reading={methods}>
        {({ rows }) =>
          rows.length === 0 ? (
            <Empty>Nothing was asked with it in these days.</Empty>
          ) : (
            <Table
              label="Usage by method"
              rows={rows}
              keyOf={(row) => row.name}
              columns={[
                { title: 'Method', cell: (row) => <bdi>{row.name}</bdi> },
                { title: 'Requests', number: true, cell: (row) => count(row.requests) },
                { title: 'Units', number: true, cell: (row) => count(row.units) },
                { title: 'Refused or failed', number: true, cell: (row) => count(row.errors) },
                { title: 'Sent', number: true, cell: (row) => bytes(row.bytes) },
              ]}
            />
          )
        }
      </Shown>
    </>
  );
}

/** Also the days on which nothing was used. */
function everyDay({ since, until, rows }: Usage): { name: string; value: number }[] {
  const units = new Map(rows.map((row) => [row.name, row.units]));
  const [first, last] = [Date.parse(since), Date.parse(until)];
  return Array.from({ length: Math.round((last - first) / DAY_MS) + 1 }, (_, index) => {
    const name = new Date(first + index * DAY_MS).toISOString().slice(0, 10);
    return { name, value: units.get(name) ?? 0 };
  });
}
