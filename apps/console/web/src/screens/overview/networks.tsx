import { useState } from 'preact/hooks';
import { CurveButton, RowCurve } from '../../history/curve-button.js';
import { formatBlock, formatBytes, formatCount, formatDuration, formatRate } from '../../lib/format.js';
import { toHref } from '../../lib/route.js';
import { Chip } from '../../parts/chip.js';
import { Name } from '../../parts/facts.js';
import { Meter } from '../../parts/meter.js';
import { NewBackfillButton } from '../../parts/navigation.js';
import { ListFilter } from '../../parts/segments.js';
import { Table } from '../../parts/table.js';
import { NETWORK_STATES, type Network, type NetworkStanding, type NetworkState } from './network-state.js';

/** Networks from which on they can be searched by name, and chosen by what they are at. */
const MIN_SEARCHED = 10;

type Standings = ReadonlyMap<string, NetworkStanding>;

/** The networks: how many are at what, and a row for each. */
export function Networks({ networks, standings }: { networks: readonly Network[]; standings: Standings }) {
  const [search, setSearch] = useState('');
  const [chosen, choose] = useState<NetworkState | 'all'>('all');
  const counts = count(standings);
  // What no network is at any more is not shown.
  const state = chosen !== 'all' && counts[chosen] === 0 ? 'all' : chosen;
  const rows = networks.filter(
    ({ network }) =>
      network.includes(search.trim()) && (state === 'all' || standings.get(network)?.state === state),
  );
  return (
    <>
      {networks.length >= MIN_SEARCHED && (
        <ListFilter
          label="Networks"
          placeholder="Search networks"
          search={search}
          setSearch={setSearch}
          options={{ all: `All ${formatCount(networks.length)}`, ...describeEach(counts) }}
          value={state}
          choose={choose}
        />
      )}
      <NetworkTable rows={rows} standings={standings} />
    </>
  );
}

type Counts = Record<NetworkState, number>;

function count(standings: Standings): Counts {
  const counts: Counts = { broken: 0, held: 0, behind: 0, complete: 0, empty: 0 };
  for (const { state } of standings.values()) counts[state]++;
  return counts;
}

/** `Needs action 27`, of the states that a network is at. */
function describeEach(counts: Counts): Record<NetworkState, string> {
  const found = Object.entries(counts).filter(([, networks]) => networks > 0);
  return Object.fromEntries(
    found.map(([state, networks]) => [
      state,
      `${NETWORK_STATES[state as NetworkState].label} ${formatCount(networks)}`,
    ]),
  ) as Record<NetworkState, string>;
}

/** All networks as one bar, in which a single one of hundreds can be seen, and in words. */
export function StateMeter({ standings }: { standings: Standings }) {
  const counts = count(standings);
  const parts = Object.entries(counts).map(([state, networks]) => [
    NETWORK_STATES[state as NetworkState].part,
    networks,
  ]);
  const words = Object.values(describeEach(counts)).join(', ');
  return (
    <>
      <Meter parts={Object.fromEntries(parts)} label={`Networks: ${words}`} />
      <small>{words}</small>
    </>
  );
}

function NetworkTable({ rows, standings }: { rows: readonly Network[]; standings: Standings }) {
  return (
    <Table
      label="Networks"
      rows={rows}
      keyOf={(row) => row.network}
      numbers={['Head', 'Complete through', 'Behind finalized', 'Published/s', 'ETA', 'Quarantined']}
      empty="No matching networks."
      columns={{
        Network: ({ network }) => (
          <a href={toHref('coverage', { network })}>
            <Name>{network}</Name>
          </a>
        ),
        State: ({ network }) => {
          const standing = standings.get(network);
          return standing && <Chip tone={standing.tone}>{standing.words}</Chip>;
        },
        Head: ({ head, network }) => (
          <CurveButton of={{ network }} figure="headLag">
            {formatBlock(head)}
          </CurveButton>
        ),
        'Complete through': (row) => <CompleteThrough row={row} />,
        'Behind finalized': (row) => <Behind row={row} />,
        'Published/s': (row) => <Rate row={row} />,
        'Last hour': ({ network }) => <RowCurve network={network} />,
        ETA: (row) => <Eta row={row} />,
        Quarantined: ({ network, quarantinedBlocks: blocks }) => (
          <>
            <CurveButton of={{ network }} figure="quarantined">
              {formatCount(blocks)}
            </CurveButton>
            {blocks > 0 && <a href={toHref('quarantine', { network })}>View</a>}
          </>
        ),
      }}
    />
  );
}

function CompleteThrough({ row }: { row: Network }) {
  const { completeThrough, firstRequested, network } = row;
  if (firstRequested === null) return <NewBackfillButton query={{ network }} />;
  if (completeThrough === null || completeThrough < firstRequested)
    return <span class="faint">None yet</span>;
  return <>{formatCount(completeThrough)}</>;
}

function Behind({ row: { completeThrough, finalized, firstRequested, network } }: { row: Network }) {
  if (finalized === null || firstRequested === null) return <span class="faint">unknown</span>;
  return (
    <CurveButton of={{ network }} figure="finalizedLag">
      {formatCount(Math.max(0, finalized - Math.max(completeThrough ?? -1, firstRequested - 1)))}
    </CurveButton>
  );
}

/** Blocks of all kinds together, and each kind. */
function Rate({ row: { kinds } }: { row: Network }) {
  if (kinds.every((each) => each.blocksPerSecond === null)) return <span class="faint">unknown</span>;
  return (
    <details>
      <summary>{formatRate(kinds.reduce((sum, each) => sum + (each.blocksPerSecond ?? 0), 0))}</summary>
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
