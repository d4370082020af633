import { dateTime } from '../lib/format.js';
import { hrefOf, useRoute } from '../lib/route.js';
import { useRead } from '../lib/use-read.js';
import { Empty, Shown } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { type BackfillReport, Progress, type Range, rangeText, Steer } from './backfill-parts.js';
import { NewBackfill } from './new-backfill.js';
import { OneBackfill } from './one-backfill.js';

/** The console reads the progress of so many at once. */
const PAGE = 50;

/** Ranges that were ordered: how far each is and what it waits for; one of them; a new one. */
export function Backfills({ mayChange }: { mayChange: boolean }) {
  const { path } = useRoute();
  const [, id] = path.split('/');
  if (id === 'new') return <NewBackfill />;
  if (id !== undefined && id !== '') return <OneBackfill key={id} id={id} mayChange={mayChange} />;
  return <List mayChange={mayChange} />;
}

function List({ mayChange }: { mayChange: boolean }) {
  const { query } = useRoute();
  const [state, network] = [query.get('state') || undefined, query.get('network') || undefined];
  const after = query.get('after') ?? undefined;
  const reading = useRead<{ rows: Range[]; more: boolean }>('backfills', {
    state,
    network,
    after,
    limit: PAGE,
  });
  const networks = useRead<{ id: string }[]>('networks', {}, 60_000);
  const choose = (name: 'state' | 'network', value: string): void => {
    location.hash = hrefOf('backfills', { state, network, [name]: value === '' ? undefined : value });
  };
  return (
    <>
      <h1>Backfills</h1>
      <p class="actions">
        {mayChange && <a href={hrefOf('backfills/new')}>Order a range</a>}
        <a href={hrefOf('changes', { subject: 'backfill' })}>Who changed them</a>
      </p>
      <p class="actions">
        <label class="inline">
          State{' '}
          <select value={state ?? ''} onChange={(event) => choose('state', event.currentTarget.value)}>
            <option value="">all</option>
            <option>active</option>
            <option>paused</option>
            <option>cancelled</option>
          </select>
        </label>
        <label class="inline">
          Network{' '}
          <select value={network ?? ''} onChange={(event) => choose('network', event.currentTarget.value)}>
            <option value="">all</option>
            {(networks.value ?? []).map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
          </select>
        </label>
      </p>
      <Shown reading={reading}>
        {({ rows, more }) => (
          <>
            {rows.length === 0 ? (
              <Empty>
                No range is ordered{state === undefined && network === undefined ? '' : ' that fits'}, so
                nothing is fetched. {mayChange && <a href={hrefOf('backfills/new')}>Order a range</a>}
              </Empty>
            ) : (
              <Rows rows={rows} mayChange={mayChange} again={reading.again} />
            )}
            <p class="pages">
              {after !== undefined && <a href={hrefOf('backfills', { state, network })}>First</a>}
              {more && <a href={hrefOf('backfills', { state, network, after: rows.at(-1)?.id })}>Next</a>}
            </p>
          </>
        )}
      </Shown>
    </>
  );
}

function Rows({ rows, mayChange, again }: { rows: Range[]; mayChange: boolean; again: () => void }) {
  const progress = useRead<BackfillReport[]>('backfills/progress', {
    ids: rows.map(({ id }) => id).join(','),
  });
  const reports = new Map((progress.value ?? []).map((report) => [report.range.id, report]));
  return (
    <>
      {progress.error !== null && <p class="old">Progress is not known: {progress.error.message}</p>}
      <Table
        label="Backfills"
        rows={rows}
        keyOf={(row) => row.id}
        columns={[
          { title: 'Number', cell: (row) => <a href={hrefOf(`backfills/${row.id}`)}>{row.id}</a> },
          {
            title: 'Range',
            cell: (row) => (
              <>
                <bdi>{row.network}</bdi> {rangeText(row)} <span class="faint">{row.kinds.join(', ')}</span>
              </>
            ),
          },
          { title: 'Owner', cell: (row) => <bdi>{row.owner}</bdi> },
          {
            title: 'Priority, weight',
            cell: (row) => (
              <>
                {row.priority}, {row.weight}
              </>
            ),
          },
          {
            title: 'Progress',
            cell: (row) => <Progress report={reports.get(row.id)} state={row.state} />,
          },
          {
            title: 'Waits for',
            cell: (row) => reports.get(row.id)?.waits[0]?.message ?? '',
          },
          {
            title: 'Deadline',
            cell: (row) => (row.deadline === null ? '' : dateTime(row.deadline)),
          },
          {
            title: 'Action',
            cell: (row) => mayChange && <Steer range={row} done={again} />,
          },
        ]}
      />
    </>
  );
}
