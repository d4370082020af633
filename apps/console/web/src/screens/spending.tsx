import { useState } from 'preact/hooks';
import { bytes, count } from '../lib/format.js';
import { useRead } from '../lib/use-read.js';
import { Bars } from '../parts/bars.js';
import { Empty, Shown } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { Budgets } from './budgets.js';

interface Spent {
  provider?: string;
  network?: string;
  upstream?: string;
  method?: string;
  day?: string;
  owner?: string;
  requests: number;
  units: number;
  bytes: number;
  cost?: string;
}

/** What was asked of nodes, for whom, what it cost, and what may be asked. */
export function Spending({ mayChange }: { mayChange: boolean }) {
  const [since, setSince] = useState('7d');
  const upstreams = useRead<Spent[]>('spending/upstreams', { since }, 30_000);
  const owners = useRead<Spent[]>('spending/owners', { since }, 30_000);
  return (
    <>
      <h1>Budgets and spending</h1>
      <Budgets mayChange={mayChange} />
      <label class="inline">
        Of the last{' '}
        <select value={since} onChange={(event) => setSince(event.currentTarget.value)}>
          <option value="1d">day</option>
          <option value="7d">7 days</option>
          <option value="30d">30 days</option>
        </select>
      </label>
      <h2>By upstream and method</h2>
      <Shown reading={upstreams}>
        {(rows) => (
          <SpentTable
            label="By upstream and method"
            rows={rows}
            names={['provider', 'network', 'upstream', 'method']}
          />
        )}
      </Shown>
      <h2>By owner and day</h2>
      <Shown reading={owners}>
        {(rows) => (
          <>
            {rows.length > 0 && <Bars label="Requests by day" rows={byDay(rows)} />}
            <SpentTable label="By owner and day" rows={rows} names={['day', 'owner']} />
          </>
        )}
      </Shown>
    </>
  );
}

type Name = 'provider' | 'network' | 'upstream' | 'method' | 'day' | 'owner';

function SpentTable({
  label,
  rows,
  names,
}: {
  label: string;
  rows: readonly Spent[];
  names: readonly Name[];
}) {
  if (rows.length === 0) return <Empty>Nothing was asked of nodes in these days.</Empty>;
  const columns: Column<Spent>[] = [
    ...names.map((name) => ({
      title: `${name[0]?.toUpperCase()}${name.slice(1)}`,
      cell: (row: Spent) => <bdi>{row[name]}</bdi>,
    })),
    { title: 'Requests', number: true, cell: (row) => count(row.requests) },
    { title: 'Units', number: true, cell: (row) => count(row.units) },
    { title: 'Received', number: true, cell: (row) => bytes(row.bytes) },
    ...(rows.some(({ cost }) => cost !== undefined)
      ? [{ title: 'Cost', number: true, cell: (row: Spent) => row.cost ?? '-' }]
      : []),
  ];
  return (
    <Table
      label={label}
      rows={rows}
      keyOf={(row) => JSON.stringify(names.map((name) => row[name]))}
      columns={columns}
    />
  );
}

function byDay(rows: readonly Spent[]): { name: string; value: number }[] {
  const days = new Map<string, number>();
  for (const { day = '', requests } of rows) days.set(day, (days.get(day) ?? 0) + requests);
  return [...days].map(([name, value]) => ({ name, value })).sort((a, b) => (a.name < b.name ? -1 : 1));
}
