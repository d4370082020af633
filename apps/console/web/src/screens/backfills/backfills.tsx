import { useState } from 'preact/hooks';
import { formatTime, pluralize } from '../../lib/format.js';
import { useRead } from '../../lib/hooks/use-read.js';
import { useMayChange } from '../../lib/hooks/use-session.js';
import { toHref, useRoute } from '../../lib/route.js';
import { Chip } from '../../parts/chip.js';
import { Name } from '../../parts/facts.js';
import { Select } from '../../parts/fields.js';
import { ChangeLogLink, NewBackfillButton, SearchForm } from '../../parts/navigation.js';
import { Page } from '../../parts/page.js';
import { Segments } from '../../parts/segments.js';
import { Empty, Read } from '../../parts/states.js';
import { PageLinks, Table } from '../../parts/table.js';
import { formatRange, Progress, type Range, StateActions } from './backfill-parts.js';
import { BulkBar } from './bulk-bar.js';
import { NewBackfill } from './new-backfill.js';
import { OneBackfill } from './one-backfill.js';
import { getCondition } from './waits.js';

/** The console reads the progress of so many at once. */
const PAGE = 50;
const STATES = {
  '': 'All',
  active: 'Active',
  paused: 'Paused',
  done: 'Done',
  cancelled: 'Cancelled',
} as const;
/** How often the owners are read. */
const OWNERS_EVERY_MS = 60_000;

/** The backfills, one of them, and a new one. */
export function Backfills() {
  const [, id] = useRoute().parts;
  if (id === 'new') return <NewBackfill />;
  return id === undefined ? <BackfillList /> : <OneBackfill key={id} id={id} />;
}

function BackfillList() {
  const { state, network, owner, search, after } = useRoute().query;
  const filter = { state, network, owner, search };
  const filtered = Object.values(filter).some((value) => value !== undefined);
  const choose = (field: 'state' | 'owner', value: string): void => {
    location.hash = toHref('backfills', { ...filter, [field]: value === '' ? undefined : value });
  };
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
      <div class="toolbar">
        <SearchForm
          path="backfills"
          query={{ state, network, owner }}
          name="search"
          value={search}
          label="Search"
          submit="Search"
          placeholder="ID, block, owner or kind"
        />
        <Segments
          label="State"
          options={STATES}
          value={state !== undefined && state in STATES ? (state as keyof typeof STATES) : ''}
          choose={(value) => choose('state', value)}
        />
        <OwnerFilter value={owner} choose={(value) => choose('owner', value)} />
      </div>
      <Read name="backfills" input={{ ...filter, after, limit: PAGE }}>
        {({ rows, more, matching }) => (
          <>
            {rows.length === 0 ? (
              <Empty>
                {filtered ? 'No matching backfills.' : 'No backfills yet.'}{' '}
                <NewBackfillButton query={{ network }} />
              </Empty>
            ) : (
              <>
                <p class="faint">{pluralize(matching, 'backfill')}, highest priority first</p>
                <Rows rows={rows} />
              </>
            )}
            <PageLinks
              path="backfills"
              query={filter}
              next={({ id }) => ({ after: id })}
              last={more ? rows.at(-1) : undefined}
            />
          </>
        )}
      </Read>
    </Page>
  );
}

/** If there are several. */
function OwnerFilter({
  value = '',
  choose,
}: {
  value?: string | undefined;
  choose: (owner: string) => void;
}) {
  const { value: owners = [] } = useRead('backfills/owners', {}, OWNERS_EVERY_MS);
  if (owners.length < 2 && value === '') return null;
  const names = owners.map(({ owner }) => owner);
  const known = value === '' || names.includes(value) ? names : [value, ...names];
  return <Select label="Owner" value={value} options={[['', 'All owners'], ...known]} choose={choose} />;
}

function Rows({ rows }: { rows: Range[] }) {
  const progress = useRead('backfills/progress', { ids: rows.map(({ id }) => id).join(',') });
  const reports = new Map((progress.value ?? []).map((report) => [report.backfill.id, report]));
  const [selected, select] = useState<ReadonlySet<number>>(new Set());
  const mayChange = useMayChange();
  const toggle = (id: number): void => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    select(next);
  };
  const columns = {
    ID: (row: Range) => <a href={toHref(`backfills/${row.id}`)}>{row.id}</a>,
    Blocks: (row: Range) => (
      <>
        <Name>{row.network}</Name> <span class="word">{formatRange(row)}</span>
        <div class="faint">{row.kinds.join(', ')}</div>
      </>
    ),
    State: (row: Range) => <State row={row} report={reports.get(row.id)} />,
    Progress: (row: Range) => <Progress report={reports.get(row.id)} state={row.state} />,
    Owner: (row: Range) => <bdi class="word">{row.owner}</bdi>,
    Priority: (row: Range) => row.priority,
    Deadline: (row: Range) =>
      row.deadline === null ? '' : <span class="word">{formatTime(row.deadline)}</span>,
    Action: (row: Range) => <StateActions range={row} />,
  };
  const box = (row: Range) => (
    <input
      type="checkbox"
      aria-label={`Select backfill ${row.id}`}
      checked={selected.has(row.id)}
      onChange={() => toggle(row.id)}
    />
  );
  return (
    <>
      {progress.value === undefined && progress.error === null && <p class="waiting">Loading…</p>}
      {progress.error !== null && <p class="old">Progress unavailable: {progress.error.message}</p>}
      <Table
        label="Backfills"
        rows={rows}
        keyOf={(row) => row.id}
        numbers={['Priority']}
        columns={mayChange ? { Select: box, ...columns } : columns}
      />
      {mayChange && (
        <BulkBar
          ids={rows.map(({ id }) => id).filter((id) => selected.has(id))}
          all={() => select(new Set(rows.map(({ id }) => id)))}
          clear={() => select(new Set())}
        />
      )}
    </>
  );
}

function State({ row, report }: { row: Range; report: Parameters<typeof getCondition>[1] }) {
  const { cure, since, tone, until, why, words } = getCondition(row, report);
  return (
    <>
      <Chip tone={tone} icon={row.state === 'paused' ? 'paused' : tone}>
        {words}
      </Chip>
      {(why !== null || until !== null) && (
        <div>
          <bdi>{why}</bdi>
          {since !== null && !why?.includes(' since ') && ` Since ${formatTime(since)}.`}
          {until !== null && ` Until ${formatTime(until)}.`}
        </div>
      )}
      {cure !== null && <a href={cure.href}>{cure.label}</a>}
    </>
  );
}
