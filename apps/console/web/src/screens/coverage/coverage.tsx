import { useEffect, useState } from 'preact/hooks';
import { onForm } from '../../lib/form-values.js';
import { formatBlock, formatCount } from '../../lib/format.js';
import { toHref, useRoute } from '../../lib/route.js';
import { Field } from '../../parts/fields.js';
import { NewBackfillButton } from '../../parts/navigation.js';
import { NetworkScreen } from '../../parts/networks.js';
import { Empty, Read } from '../../parts/states.js';
import { CoverageCanvas } from './coverage-canvas.js';
import { CoverageLegend } from './coverage-legend.js';
import { HolesTable } from './holes-table.js';
import type { CoverageMap } from './map/coverage-map.js';
import { applyKey, moveWithin, parseRange, type View } from './map/coverage-view.js';
import { SelectionBar } from './selection-bar.js';

/** Columns per kind. */
const MAX_COLUMNS = 1_000;
/** Pause until the data of a new view are read: a turn of the wheel is many views. */
const SETTLED_MS = 100;

/** The map of coverage: kinds by blocks, from all of a chain to one block. */
export function Coverage() {
  const { query } = useRoute();
  return (
    <NetworkScreen title="Coverage" path="coverage">
      {(network) => <NetworkMap key={network} network={network} query={query} />}
    </NetworkScreen>
  );
}

type Query = ReturnType<typeof useRoute>['query'];

/** The view of an address; null: all. */
function toView({ from: first = '', to: last = '' }: Query): View | null {
  const [from, to] = [Number.parseInt(first, 10), Number.parseInt(last, 10)];
  return from >= 0 && to >= from ? { from, to } : null;
}

function NetworkMap({ network, query }: { network: string; query: Query }) {
  /** null: all, also after the chain has grown. */
  const [view, setView] = useState(() => toView(query));
  const [settled, setSettled] = useState(view);
  useEffect(() => setView(toView(query)), [query]);
  useEffect(() => {
    const timer = setTimeout(() => {
      setSettled(view);
      // Not as a step of the history: each turn of the wheel would be one.
      history.replaceState(null, '', toHref('coverage', { network, ...view }));
    }, SETTLED_MS);
    return () => clearTimeout(timer);
  }, [network, view]);
  return (
    <Read name="coverage/map" input={{ network, ...settled, columns: MAX_COLUMNS }}>
      {(map) =>
        map.whole === null ? (
          <Empty>
            No backfills yet. <NewBackfillButton query={{ network }} />
          </Empty>
        ) : (
          <MapView map={map} view={view} show={setView} settled={settled} />
        )
      }
    </Read>
  );
}

/** Buttons by their keys. */
const MOVES = { '+': 'Zoom in', '-': 'Zoom out', ArrowLeft: 'Move left', ArrowRight: 'Move right' };

function MapView(props: {
  map: CoverageMap;
  view: View | null;
  show: (view: View | null) => void;
  settled: View | null;
}) {
  const { map, settled } = props;
  const [selected, select] = useState<View | null>(null);
  const whole = map.whole ?? { from: 0, to: 0 };
  // An address may name blocks before the first requested one or after the head.
  const bounds = { from: Math.min(whole.from, map.from), to: Math.max(whole.to, map.to) };
  const view = props.view === null ? whole : moveWithin(props.view, bounds);
  const show = (next: View): void =>
    props.show(next.from === whole.from && next.to === whole.to ? null : next);
  return (
    <>
      <p class="faint">
        Head {formatBlock(map.head)}, finalized {formatBlock(map.finalized)},{' '}
        {map.completeThrough === null
          ? 'none complete yet'
          : `complete through ${formatCount(map.completeThrough)}`}
        .{!map.queueSeen && ' The queue is unavailable: blocks being fetched show as waiting.'}
      </p>
      <div class="toolbar">
        <RangeBox key={`${view.from}-${view.to}`} view={view} bounds={bounds} show={show} />
        {Object.entries(MOVES).map(([key, name]) => (
          <button key={key} type="button" onClick={() => show(applyKey(key, view, bounds) ?? view)}>
            {name}
          </button>
        ))}
        <button type="button" onClick={() => props.show(null)}>
          Show all
        </button>
      </div>
      <CoverageCanvas map={map} view={view} bounds={bounds} show={show} selected={selected} select={select} />
      {selected !== null && (
        <SelectionBar
          map={map}
          selected={selected}
          clear={() => select(null)}
          zoom={() => {
            show(selected);
            select(null);
          }}
        />
      )}
      <CoverageLegend />
      <HolesTable
        network={map.network}
        view={settled ?? { from: map.from, to: map.to }}
        kinds={map.kinds.map(({ kind }) => kind)}
      />
    </>
  );
}

/** Shows the range and takes another one. */
function RangeBox(props: { view: View; bounds: View; show: (view: View) => void }) {
  const { view, bounds, show } = props;
  const [wrong, setWrong] = useState(false);
  const submit = onForm((form) => {
    const next = parseRange(String(form.get('range')), bounds);
    setWrong(next === null);
    if (next !== null) show(next);
  });
  return (
    <form class="actions" onSubmit={submit}>
      <Field
        label="Blocks"
        name="range"
        defaultValue={`${formatCount(view.from)}-${formatCount(view.to)}`}
        aria-invalid={wrong}
        autocomplete="off"
        maxLength={60}
      />
      <button type="submit">Show</button>
      {wrong && (
        <p class="problem" role="alert">
          Enter a block or a range, such as 12,000-13,999, between {formatCount(bounds.from)} and{' '}
          {formatCount(bounds.to)}.
        </p>
      )}
    </form>
  );
}
