import { useState } from 'preact/hooks';
import type { Answer } from '../../lib/answers.js';
import { formatBytes, formatCount } from '../../lib/format.js';
import { Bars } from '../../parts/bars.js';
import { Select, toPeriods } from '../../parts/fields.js';
import { Page } from '../../parts/page.js';
import { Read } from '../../parts/states.js';
import { type Columns, Table } from '../../parts/table.js';
import { Budgets } from './budgets.js';

const PERIODS = toPeriods([1, 7, 30]);

type Spent = Answer<'spending/upstreams'>[number];

/** The budgets of providers, and the requests to nodes by upstream and by owner. */
export function Spending() {
  const [since, setSince] = useState('7d');
  return (
    <Page title="Budgets and spending">
      <Budgets />
      <Select label="Last" value={since} options={PERIODS} choose={setSince} />
      <h2>By upstream and method</h2>
      <Read name="spending/upstreams" input={{ since }} everyMs={30_000}>
        {(rows) => (
          <SpentTable
            label="By upstream and method"
            rows={rows}
            names={['provider', 'network', 'upstream', 'method']}
          />
        )}
      </Read>
      <h2>By owner and day</h2>
      <Read name="spending/owners" input={{ since }} everyMs={30_000}>
        {(rows) => (
          <>
            {rows.length > 0 && <Bars label="Requests by day" rows={sumByDay(rows)} />}
            <SpentTable label="By owner and day" rows={rows} names={['day', 'owner']} />
          </>
        )}
      </Read>
    </Page>
  );
}

type Name = 'provider' | 'network' | 'upstream' | 'method' | 'day' | 'owner';

function SpentTable(props: { label: string; rows: readonly Spent[]; names: readonly Name[] }) {
  const { label, rows, names } = props;
  const named = names.map((name) => [
    `${name[0]?.toUpperCase()}${name.slice(1)}`,
    (row: Spent) => <bdi>{row[name]}</bdi>,
  ]);
  const columns: Record<string, Columns<Spent>[string]> = {
    ...Object.fromEntries(named),
    Requests: (row) => formatCount(row.requests),
    Units: (row) => formatCount(row.units),
    Received: (row) => formatBytes(row.bytes),
  };
  if (rows.some(({ cost }) => cost !== undefined)) columns.Cost = (row) => row.cost ?? '-';
  return (
    <Table
      label={label}
      rows={rows}
      keyOf={(row) => JSON.stringify(names.map((name) => row[name]))}
      empty="No requests in this period."
      numbers={['Requests', 'Units', 'Received', 'Cost']}
      columns={columns}
    />
  );
}

function sumByDay(rows: readonly Spent[]): { name: string; value: number }[] {
  const days = new Map<string, number>();
  for (const { day = '', requests } of rows) days.set(day, (days.get(day) ?? 0) + requests);
  return [...days].map(([name, value]) => ({ name, value })).sort((a, b) => (a.name < b.name ? -1 : 1));
}
