import { useState } from 'preact/hooks';
import type { Answer } from '../lib/answers.js';
import { formatBlock, formatBytes, formatCount, formatDuration, formatRate } from '../lib/format.js';
import { toHref } from '../lib/route.js';
import { NewBackfillButton } from '../parts/navigation.js';
import { NoNetworks } from '../parts/networks.js';
import { Sparkline } from '../parts/sparkline.js';
import { Read } from '../parts/states.js';
import { Table } from '../parts/table.js';

type Network = Answer<'overview'>[number];

/** Networks from which on they can be searched by name. */
const MIN_SEARCHED = 10;

/** All networks: progress, rate, and what needs an operator. */
export function Overview() {
  const [search, setSearch] = useState('');
  return (
    <>
      <h1>Overview</h1>
      <Read name="overview">
        {(all) =>
          all.length === 0 ? (
            <NoNetworks />
          ) : (
            <>
              <Totals networks={all} />
              {all.length >= MIN_SEARCHED && (
                <label class="inline">
                  Search{' '}
                  <input
                    type="search"
                    value={search}
                    onInput={(event) => setSearch(event.currentTarget.value)}
                  />
                </label>
              )}
              <Networks rows={all.filter(({ network }) => network.includes(search.trim()))} />
            </>
          )
        }
      </Read>
    </>
  );
}

const sum = <T,>(rows: readonly T[], of: (row: T) => number | null): number =>
  rows.reduce((total, row) => total + (of(row) ?? 0), 0);

function Totals({ networks }: { networks: readonly Network[] }) {
  const kinds = networks.flatMap((each) => each.kinds);
  const alarms = sum(networks, (each) => each.alarms.length);
  const quarantined = sum(networks, (each) => each.quarantinedBlocks);
  const figures: [string, string, string?][] = [
    ['Networks', formatCount(networks.length)],
    ['Bundles', formatCount(sum(kinds, (each) => each.bundles))],
    ['Stored', formatBytes(sum(kinds, (each) => each.bytes))],
    ['Published/s', getRate(kinds) ?? 'unknown'],
    ['Open alarms', formatCount(alarms), alarms > 0 ? 'bad' : undefined],
    ['Quarantined blocks', formatCount(quarantined), quarantined > 0 ? 'wait' : undefined],
  ];
  return (
    <dl class="figures">
      {figures.map(([title, figure, tone]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd class={tone}>{figure}</dd>
        </div>
      ))}
    </dl>
  );
}

function Networks({ rows }: { rows: readonly Network[] }) {
  return (
    <Table
      label="Networks"
      rows={rows}
      keyOf={(row) => row.network}
      numbers={['Head', 'Finalized', 'Complete through', 'Rate', 'ETA', 'Quarantined']}
      columns={{
        Network: ({ network }) => (
          <a href={toHref('coverage', { network })}>
            <bdi>{network}</bdi>
          </a>
        ),
        Head: ({ head }) => formatBlock(head),
        Finalized: ({ finalized }) => formatBlock(finalized),
        'Complete through': (row) => <CompleteThrough row={row} />,
        Rate: (row) => <Rate row={row} />,
        ETA: (row) => <Eta row={row} />,
        Quarantined: ({ quarantinedBlocks: blocks }) =>
          blocks === 0 ? '0' : <span class="wait">{formatCount(blocks)}</span>,
        Alarms: ({ alarms }) => <Alarms alarms={alarms} />,
      }}
    />
  );
}

function CompleteThrough({ row }: { row: Network }) {
  const { completeThrough, finalized, firstRequested, network } = row;
  if (firstRequested === null) {
    return (
      <span class="faint">
        No backfills yet. <NewBackfillButton query={{ network }} />
      </span>
    );
  }
  if (completeThrough === null || completeThrough < firstRequested)
    return <>none yet, starts at {formatCount(firstRequested)}</>;
  const behind = finalized === null ? 0 : finalized - completeThrough;
  return (
    <>
      {formatCount(completeThrough)}
      {behind > 0 && <div class="faint">{formatCount(behind)} blocks behind finalized</div>}
    </>
  );
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
        {formatRate(now)} blocks/s{' '}
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

function Alarms({ alarms }: { alarms: Network['alarms'] }) {
  if (alarms.length === 0) return <span class="good">none</span>;
  return (
    <ul class="plain">
      {alarms.map(({ name, message }) => (
        <li key={name}>
          <a class="bad" href={toHref('alarms')} title={message}>
            {name}
          </a>
        </li>
      ))}
    </ul>
  );
}
