import { useState } from 'preact/hooks';
import { bytes, count, duration, rate } from '../lib/format.js';
import { hrefOf } from '../lib/route.js';
import { useRead } from '../lib/use-read.js';
import { Sparkline } from '../parts/sparkline.js';
import { Empty, Shown } from '../parts/states.js';
import { Table } from '../parts/table.js';

interface Kind {
  kind: string;
  wanted: boolean;
  completeTo: number | null;
  bundles: number;
  blocks: number;
  bytes: number;
  blocksPerSecond: number | null;
  bytesPerSecond: number | null;
  etaSeconds: number | null;
}

interface Network {
  network: string;
  head: number | null;
  finalized: number | null;
  firstWanted: number | null;
  completeTo: number | null;
  kinds: Kind[];
  recent: number[];
  quarantinedBlocks: number;
  alarms: { name: string; message: string }[];
}

/** From so many networks on, they can be searched by name. */
const MANY = 10;

/** All networks: how far each is, how fast, and what an operator must look at. */
export function Overview() {
  const [search, setSearch] = useState('');
  const reading = useRead<Network[]>('overview');
  return (
    <>
      <h1>Overview</h1>
      <Shown reading={reading}>
        {(all) =>
          all.length === 0 ? (
            <Empty>
              The database knows no network yet. An ingester enters those of its networks file when it starts:{' '}
              <code>packhouse ingester</code>, or <code>packhouse local --rpc URL</code> for everything on one
              machine.
            </Empty>
          ) : (
            <>
              <Totals networks={all} />
              {all.length >= MANY && (
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
      </Shown>
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
    ['Networks', count(networks.length)],
    ['Bundles', count(sum(kinds, (each) => each.bundles))],
    ['Stored', bytes(sum(kinds, (each) => each.bytes))],
    ['Published a second', `${bytes(sum(kinds, (each) => each.bytesPerSecond))}`],
    ['Open alarms', count(alarms), alarms > 0 ? 'bad' : undefined],
    ['Blocks in quarantine', count(quarantined), quarantined > 0 ? 'wait' : undefined],
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
      columns={[
        {
          title: 'Network',
          cell: ({ network }) => (
            <a href={hrefOf('coverage', { network })}>
              <bdi>{network}</bdi>
            </a>
          ),
        },
        { title: 'Head', number: true, cell: ({ head }) => block(head) },
        { title: 'Final', number: true, cell: ({ finalized }) => block(finalized) },
        { title: 'Complete to', number: true, cell: (row) => <CompleteTo row={row} /> },
        { title: 'Rate', number: true, cell: (row) => <Rate row={row} /> },
        { title: 'Done in', number: true, cell: (row) => <Left row={row} /> },
        {
          title: 'Quarantine',
          number: true,
          cell: ({ quarantinedBlocks: blocks }) =>
            blocks === 0 ? '0' : <span class="wait">{count(blocks)}</span>,
        },
        { title: 'Alarms', cell: ({ alarms }) => <Alarms alarms={alarms} /> },
      ]}
    />
  );
}

const block = (number: number | null): string => (number === null ? 'unknown' : count(number));

function CompleteTo({ row }: { row: Network }) {
  const { completeTo, finalized, firstWanted } = row;
  if (firstWanted === null) {
    return (
      <span class="faint">
        nothing is wanted: <code>packhouse backfill add</code>
      </span>
    );
  }
  if (completeTo === null || completeTo < firstWanted) return <>nothing from {count(firstWanted)} on</>;
  const behind = finalized === null ? 0 : finalized - completeTo;
  return (
    <>
      {count(completeTo)}
      {behind > 0 && <div class="faint">{count(behind)} behind final</div>}
    </>
  );
}

/** Blocks of all kinds together, the last five minutes as a line, and each kind below. */
function Rate({ row: { kinds, recent } }: { row: Network }) {
  if (kinds.every((each) => each.blocksPerSecond === null)) return <span class="faint">not known yet</span>;
  const now = sum(kinds, (each) => each.blocksPerSecond);
  return (
    <details>
      <summary>
        {rate(now)} blocks/s{' '}
        <Sparkline
          values={recent}
          label={`Blocks of all kinds a second, the last five minutes: ${rate(Math.min(...recent))} to ${rate(Math.max(...recent))}`}
        />
      </summary>
      <ul class="plain">
        {kinds.map((each) => (
          <li key={each.kind}>
            {each.kind}: {rate(each.blocksPerSecond ?? 0)} blocks/s, {bytes(each.bytesPerSecond ?? 0)}/s,{' '}
            {each.wanted ? `complete to ${block(each.completeTo)}` : 'not wanted'}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The longest of its kinds. */
function Left({ row: { completeTo, finalized, kinds } }: { row: Network }) {
  const known = kinds.flatMap(({ etaSeconds }) => etaSeconds ?? []);
  if (known.length > 0) return <>{duration(Math.max(...known) * 1_000)}</>;
  if (completeTo !== null && finalized !== null && completeTo >= finalized)
    return <span class="good">done</span>;
  return <span class="faint">unknown</span>;
}

function Alarms({ alarms }: { alarms: Network['alarms'] }) {
  if (alarms.length === 0) return <span class="good">none</span>;
  return (
    <ul class="plain">
      {alarms.map(({ name, message }) => (
        <li key={name}>
          <a class="bad" href={hrefOf('alarms')} title={message}>
            {name}
          </a>
        </li>
      ))}
    </ul>
  );
}
