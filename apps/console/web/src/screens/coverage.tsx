import { useEffect, useState } from 'preact/hooks';
import type { CoverageMap } from '../lib/coverage-map.js';
import { parseRange, type View, viewAfterKey, within } from '../lib/coverage-view.js';
import { count } from '../lib/format.js';
import { hrefOf, useRoute } from '../lib/route.js';
import { useRead } from '../lib/use-read.js';
import { CoverageCanvas } from '../parts/coverage-canvas.js';
import { CoverageLegend } from '../parts/coverage-legend.js';
import { Empty, Shown } from '../parts/states.js';
import { HolesTable } from './holes-table.js';

/** Columns of a kind, at most. */
const COLUMNS = 1_000;
/** How long a view stays until its data are asked for, in milliseconds: a turn of the wheel is many views. */
const SETTLED_MS = 100;

/** The map of coverage: kinds by blocks, from all of a chain to one block. */
export function Coverage({ mayChange }: { mayChange: boolean }) {
  const { query } = useRoute();
  const networks = useRead<{ id: string }[]>('networks', {}, 60_000);
  const network = query.get('network') ?? networks.value?.[0]?.id;
  return (
    <>
      <h1>Coverage</h1>
      <Shown reading={networks}>
        {(all) =>
          network === undefined ? (
            <Empty>
              The database knows no network yet: an ingester enters those of its networks file when it starts.
            </Empty>
          ) : (
            <>
              <label class="inline">
                Network{' '}
                <select
                  value={network}
                  onChange={(event) => {
                    location.hash = hrefOf('coverage', { network: event.currentTarget.value });
                  }}
                >
                  {[...new Set([network, ...all.map(({ id }) => id)])].sort().map((id) => (
                    <option key={id}>{id}</option>
                  ))}
                </select>
              </label>
              <NetworkMap key={network} network={network} mayChange={mayChange} query={query} />
            </>
          )
        }
      </Shown>
    </>
  );
}

/** The view that an address names; null: everything. */
function viewOf(query: URLSearchParams): View | null {
  const [from, to] = ['from', 'to'].map((name) => Number.parseInt(query.get(name) ?? '', 10));
  return from !== undefined && to !== undefined && from >= 0 && to >= from ? { from, to } : null;
}

function NetworkMap(props: { network: string; mayChange: boolean; query: URLSearchParams }) {
  const { network, mayChange, query } = props;
  /** null: everything, also when the chain has grown. */
  const [view, setView] = useState(() => viewOf(query));
  const [asked, setAsked] = useState(view);
  useEffect(() => setView(viewOf(query)), [query]);
  useEffect(() => {
    const timer = setTimeout(() => {
      setAsked(view);
      // Not as a step of the history: each turn of the wheel would be one.
      history.replaceState(null, '', hrefOf('coverage', { network, ...view }));
    }, SETTLED_MS);
    return () => clearTimeout(timer);
  }, [network, view]);
  const reading = useRead<CoverageMap>('coverage/map', { network, ...asked, columns: COLUMNS });
  return (
    <Shown reading={reading}>
      {(map) =>
        map.whole === null ? (
          <Empty>
            Nothing of this network is wanted yet. Order blocks: <code>packhouse backfill add --help</code>
          </Empty>
        ) : (
          <MapOf
            map={map}
            view={view}
            show={setView}
            settled={asked}
            mayChange={mayChange}
            changed={reading.again}
          />
        )
      }
    </Shown>
  );
}

function MapOf(props: {
  map: CoverageMap;
  view: View | null;
  show: (view: View | null) => void;
  settled: View | null;
  mayChange: boolean;
  changed: () => void;
}) {
  const { map, settled, mayChange, changed } = props;
  const whole = { from: map.whole?.start ?? 0, to: map.whole?.end ?? 0 };
  // An address may name blocks before the first wanted one or after the head.
  const bounds = { from: Math.min(whole.from, map.from), to: Math.max(whole.to, map.to) };
  const view = props.view === null ? whole : within(props.view, bounds);
  const show = (next: View): void =>
    props.show(next.from === whole.from && next.to === whole.to ? null : next);
  const press = (key: string) => () => show(viewAfterKey(key, view, bounds) ?? view);
  return (
    <>
      <p>
        Head {block(map.head)}, final {block(map.finalized)},{' '}
        {map.completeTo === null
          ? 'and the first wanted block is not published in every kind yet.'
          : `complete to ${count(map.completeTo)}.`}
        {!map.queueSeen && ' The queue is away: what is being fetched is shown as waiting.'}
      </p>
      <div class="map-tools">
        <RangeBox key={`${view.from}-${view.to}`} view={view} bounds={bounds} show={show} />
        {(
          [
            ['+', 'Zoom in'],
            ['-', 'Zoom out'],
            ['ArrowLeft', 'Earlier'],
            ['ArrowRight', 'Later'],
          ] as const
        ).map(([key, name]) => (
          <button key={key} type="button" onClick={press(key)}>
            {name}
          </button>
        ))}
        <button type="button" onClick={() => props.show(null)}>
          Everything
        </button>
      </div>
      <CoverageCanvas map={map} view={view} bounds={bounds} show={show} />
      <CoverageLegend />
      <HolesTable
        network={map.network}
        view={settled ?? { from: map.from, to: map.to }}
        mayChange={mayChange}
        changed={changed}
      />
    </>
  );
}

const block = (number: number | null): string => (number === null ? 'unknown' : count(number));

/** Shows the range and takes another one. */
function RangeBox(props: { view: View; bounds: View; show: (view: View) => void }) {
  const { view, bounds, show } = props;
  const [wrong, setWrong] = useState(false);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get('range'));
    const next = parseRange(text, bounds);
    setWrong(next === null);
    if (next !== null) show(next);
  };
  return (
    <form class="map-range" onSubmit={submit}>
      <label>
        Blocks{' '}
        <input
          name="range"
          defaultValue={`${count(view.from)}-${count(view.to)}`}
          aria-invalid={wrong}
          autocomplete="off"
          maxLength={60}
        />
      </label>
      <button type="submit">Show</button>
      {wrong && (
        <p class="problem" role="alert">
          Write a range like 12,000-13,999, or one block, between {count(bounds.from)} and {count(bounds.to)}.
        </p>
      )}
    </form>
  );
}
