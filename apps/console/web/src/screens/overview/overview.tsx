import { useState } from 'preact/hooks';
import { RowCurve, TotalCurve } from '../../history/curve-button.js';
import type { Answer } from '../../lib/answers.js';
import {
  formatAgo,
  formatBlock,
  formatBytes,
  formatCount,
  formatDuration,
  formatRate,
} from '../../lib/format.js';
import { toHref, useRoute } from '../../lib/route.js';
import { useRead } from '../../lib/use-read.js';
import { Chip } from '../../parts/chip.js';
import { Figure } from '../../parts/figure.js';
import { NewBackfillButton } from '../../parts/navigation.js';
import { GoTo } from '../../parts/networks.js';
import { Page } from '../../parts/page.js';
import { Sparkline } from '../../parts/sparkline.js';
import { Problem, Read } from '../../parts/states.js';
import { Table } from '../../parts/table.js';
import { FINDINGS, type Finding, Findings } from './findings.js';

type Network = Answer<'overview'>[number];

/** Networks from which on they can be searched by name. */
const MIN_SEARCHED = 10;

/** What needs an operator, and all networks: progress and rate. */
export function Overview() {
  const [search, setSearch] = useState('');
  const { network: only } = useRoute().query;
  const found = useRead('findings', { network: only });
  return (
    <Page
      title="Overview"
      actions={
        <>
          <StartLink />
          <NewBackfillButton query={{ network: only }} />
        </>
      }
    >
      {found.error !== null && <Problem error={found.error} />}
      {found.value !== undefined && <Findings rows={found.value} />}
      <Read name="overview">
        {(all) => {
          const networks = all.filter(({ network }) => only === undefined || network === only);
          if (all.length === 0) return <GoTo from="overview" href={toHref('start')} />;
          return (
            <>
              <Totals networks={networks} />
              {networks.length >= MIN_SEARCHED && (
                <div class="toolbar">
                  <input
                    type="search"
                    aria-label="Search networks"
                    placeholder="Search networks"
                    value={search}
                    onInput={(event) => setSearch(event.currentTarget.value)}
                  />
                </div>
              )}
              <Networks
                rows={networks.filter(({ network }) => network.includes(search.trim()))}
                findings={found.value ?? []}
              />
            </>
          );
        }}
      </Read>
    </Page>
  );
}

/** While nobody has used a key. */
function StartLink() {
  const keys = useRead('keys', { limit: 2 }, 60_000).value?.rows;
  const isNew = keys !== undefined && keys.length < 2 && keys.every(({ lastUsedAt }) => lastUsedAt === null);
  return isNew ? <a href={toHref('start')}>Get started</a> : null;
}

const sum = <T,>(rows: readonly T[], of: (row: T) => number | null): number =>
  rows.reduce((total, row) => total + (of(row) ?? 0), 0);

function Totals({ networks }: { networks: readonly Network[] }) {
  const kinds = networks.flatMap((each) => each.kinds);
  const alarms = networks.flatMap((each) => each.alarms);
  const [oldest] = alarms.map(({ raisedAt }) => raisedAt).sort();
  const quarantined = sum(networks, (each) => each.quarantinedBlocks);
  const done = networks.filter(
    ({ completeThrough, finalized }) =>
      completeThrough !== null && finalized !== null && completeThrough >= finalized,
  ).length;
  const rate = kinds.every((each) => each.blocksPerSecond === null)
    ? null
    : sum(kinds, (each) => each.blocksPerSecond);
  const size = sum(kinds, (each) => each.bytesPerSecond);
  return (
    <dl class="figures">
      <Figure
        title="Published/s"
        note={rate === null ? 'known in a few seconds' : `blocks, ${formatBytes(size)}/s`}
      >
        {rate === null ? '…' : formatRate(rate)}
        <TotalCurve figure="blocks" />
      </Figure>
      <Figure title="Networks" note={`${formatCount(done)} up to date`}>
        {formatCount(networks.length)}
        <TotalCurve figure="networks" />
      </Figure>
      <Figure title="Stored" note={`${formatCount(sum(kinds, (each) => each.bundles))} bundles`}>
        {formatBytes(sum(kinds, (each) => each.bytes))}
        <TotalCurve figure="storedBytes" />
      </Figure>
      <Figure
        title="Quarantined blocks"
        note={quarantined === 0 ? 'none' : <a href={toHref('quarantine')}>View causes</a>}
        tone={quarantined > 0 ? 'wait' : undefined}
      >
        {formatCount(quarantined)}
        <TotalCurve figure="quarantined" />
      </Figure>
      <Figure
        title="Open alarms"
        note={oldest === undefined ? 'none' : `oldest ${formatAgo(oldest)}`}
        tone={alarms.length > 0 ? 'bad' : undefined}
      >
        {formatCount(alarms.length)}
        <TotalCurve figure="alarms" />
      </Figure>
    </dl>
  );
}

function Networks({ rows, findings }: { rows: readonly Network[]; findings: readonly Finding[] }) {
  return (
    <Table
      label="Networks"
      rows={rows}
      keyOf={(row) => row.network}
      numbers={['Head', 'Complete through', 'Behind finalized', 'Published/s', 'ETA', 'Quarantined']}
      empty="No network has that in its name."
      columns={{
        Network: ({ network }) => (
          <a href={toHref('coverage', { network })}>
            <strong>
              <bdi>{network}</bdi>
            </strong>
          </a>
        ),
        State: (row) => <State row={row} finding={findings.find(({ network }) => network === row.network)} />,
        Head: ({ head }) => formatBlock(head),
        'Complete through': (row) => <CompleteThrough row={row} />,
        'Behind finalized': (row) => <Behind row={row} />,
        'Published/s': (row) => <Rate row={row} />,
        'Last hour': ({ network }) => <RowCurve network={network} />,
        ETA: (row) => <Eta row={row} />,
        Quarantined: ({ network, quarantinedBlocks: blocks }) =>
          blocks === 0 ? '0' : <a href={toHref('quarantine', { network })}>{formatCount(blocks)}</a>,
      }}
    />
  );
}

/** The worst that is known of it, in a few words; the findings above say more. */
function State({ row, finding }: { row: Network; finding: Finding | undefined }) {
  const { completeThrough, finalized, firstRequested } = row;
  if (finding !== undefined) {
    const [tone, words] = FINDINGS[finding.kind];
    return <Chip tone={tone}>{words}</Chip>;
  }
  if (firstRequested === null) return <Chip tone="off">No backfills</Chip>;
  if (completeThrough !== null && finalized !== null && completeThrough >= finalized)
    return <Chip tone="good">Up to date</Chip>;
  return <Chip tone="info">In progress</Chip>;
}

function CompleteThrough({ row }: { row: Network }) {
  const { completeThrough, firstRequested, network } = row;
  if (firstRequested === null) return <NewBackfillButton query={{ network }} />;
  if (completeThrough === null || completeThrough < firstRequested)
    return <span class="faint">nothing from {formatCount(firstRequested)} on</span>;
  return <>{formatCount(completeThrough)}</>;
}

function Behind({ row: { completeThrough, finalized, firstRequested } }: { row: Network }) {
  if (finalized === null || firstRequested === null) return <span class="faint">unknown</span>;
  return <>{formatCount(Math.max(0, finalized - Math.max(completeThrough ?? -1, firstRequested - 1)))}</>;
}

/** Blocks of all kinds together, with their bytes; null: unknown. */
function getRate(kinds: Network['kinds']): string | null {
  if (kinds.every((each) => each.blocksPerSecond === null)) return null;
  const [blocks, size] = [
    sum(kinds, (each) => each.blocksPerSecond),
    sum(kinds, (each) => each.bytesPerSecond),
  ];
  return `${formatRate(blocks)} blocks${size > 0 ? `, ${formatBytes(size)}` : ''}`;
}

/** Blocks of all kinds together, with the last five minutes as a line, and each kind. */
function Rate({ row: { kinds, recent } }: { row: Network }) {
  if (getRate(kinds) === null) return <span class="faint">unknown</span>;
  const now = sum(kinds, (each) => each.blocksPerSecond);
  return (
    <details>
      <summary>
        {formatRate(now)}{' '}
        <Sparkline
          values={recent}
          label={`Blocks per second over the last five minutes: ${formatRate(Math.min(...recent))} to ${formatRate(Math.max(...recent))}`}
        />
      </summary>
      <ul class="plain">
        {kinds.map((each) => (
          <li key={each.kind}>
            {each.kind}: {formatRate(each.blocksPerSecond ?? 0)} blocks/s,{' '}
            {formatBytes(each.bytesPerSecond ?? 0)}/s,{' '}
            {each.requested ? `complete through ${formatBlock(each.completeThrough)}` : 'not requested'}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** That of the slowest kind. */
function Eta({ row: { completeThrough, finalized, kinds } }: { row: Network }) {
  const known = kinds.flatMap(({ etaSeconds }) => etaSeconds ?? []);
  if (known.length > 0) return <>{formatDuration(Math.max(...known) * 1_000)}</>;
  if (completeThrough !== null && finalized !== null && completeThrough >= finalized)
    return <span class="good">done</span>;
  return <span class="faint">unknown</span>;
}
