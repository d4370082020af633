import { formatDate } from '../../lib/format.js';
import { toHref, useRoute } from '../../lib/route.js';
import { useRead } from '../../lib/use-read.js';
import { ALL, Select } from '../../parts/fields.js';
import { ChangeLogLink, NewBackfillButton } from '../../parts/navigation.js';
import { useNetworkIds } from '../../parts/networks.js';
import { Page } from '../../parts/page.js';
import { Empty, Read } from '../../parts/states.js';
import { PageLinks, Table } from '../../parts/table.js';
import { formatRange, Progress, type Range, StateActions } from './backfill-parts.js';
import { NewBackfill } from './new-backfill.js';
import { OneBackfill } from './one-backfill.js';

/** The console reads the progress of so many at once. */
const PAGE = 50;
const STATES = [ALL, 'active', 'paused', 'cancelled'];

/** The backfills, one of them, and a new one. */
export function Backfills() {
  const [, id] = useRoute().parts;
  if (id === 'new') return <NewBackfill />;
  return id === undefined ? <BackfillList /> : <OneBackfill key={id} id={id} />;
}

function BackfillList() {
  const { state, network, after } = useRoute().query;
  const choose = (name: 'state' | 'network') => (value: string) => {
    location.hash = toHref('backfills', { state, network, [name]: value === '' ? undefined : value });
  };
  const networks = useNetworkIds();
  const filtered = state !== undefined || network !== undefined;
  return (
    <Page
      title="Backfills"
      actions={
        <>
          <ChangeLogLink subject="backfill" />
          <NewBackfillButton query={{ network }} />
        </>
      }
    >
      <p class="actions">
        <Select label="State" value={state ?? ''} options={STATES} choose={choose('state')} />
        <Select
          label="Network"
          value={network ?? ''}
          options={[ALL, ...networks]}
          choose={choose('network')}
        />
      </p>
      <Read name="backfills" input={{ state, network, after, limit: PAGE }}>
        {({ rows, more }) => (
          <>
            {rows.length === 0 ? (
              <Empty>
                {filtered ? 'No matching backfills.' : 'No backfills yet.'}{' '}
                <NewBackfillButton query={{ network }} />
              </Empty>
            ) : (
              <Rows rows={rows} />
            )}
            <PageLinks
              path="backfills"
              query={{ state, network }}
              next={({ id }) => ({ after: id })}
              last={more ? rows.at(-1) : undefined}
            />
          </>
        )}
      </Read>
    </Page>
  );
}

function Rows({ rows }: { rows: Range[] }) {
  const progress = useRead('backfills/progress', { ids: rows.map(({ id }) => id).join(',') });
  const reports = new Map((progress.value ?? []).map((report) => [report.backfill.id, report]));
  return (
    <>
      {progress.error !== null && <p class="old">Progress unavailable: {progress.error.message}</p>}
      <Table
        label="Backfills"
        rows={rows}
        keyOf={(row) => row.id}
        columns={{
          ID: (row) => <a href={toHref(`backfills/${row.id}`)}>{row.id}</a>,
          Blocks: (row) => (
            <>
              <bdi>{row.network}</bdi> {formatRange(row)} <span class="faint">{row.kinds.join(', ')}</span>
            </>
          ),
          Owner: (row) => <bdi>{row.owner}</bdi>,
          'Priority, weight': (row) => `${row.priority}, ${row.weight}`,
          Progress: (row) => <Progress report={reports.get(row.id)} state={row.state} />,
          'Waiting for': (row) => reports.get(row.id)?.waits[0]?.message ?? '',
          Deadline: (row) => (row.deadline === null ? '' : formatDate(row.deadline)),
          Action: (row) => <StateActions range={row} />,
        }}
      />
    </>
  );
}
