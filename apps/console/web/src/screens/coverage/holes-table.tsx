import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answer } from '../../lib/answers.js';
import { ApiError, read } from '../../lib/api.js';
import { saveCsv, toCsv } from '../../lib/csv.js';
import { formatCount } from '../../lib/format.js';
import { REASONS } from '../../lib/reasons.js';
import { toHref } from '../../lib/route.js';
import { useMayChange } from '../../lib/use-session.js';
import { ActionButton } from '../../parts/changes.js';
import { Empty, Problem, Read } from '../../parts/states.js';
import { Table } from '../../parts/table.js';
import type { View } from './map/coverage-view.js';

type HolesPage = Answer<'coverage/holes'>;
type Hole = HolesPage['holes'][number];

/** Rows of a file. */
const MAX_ROWS = 100_000;

/** The first holes of what the map shows, each with its remedy, and all of them as a file. */
export function HolesTable({ network, view }: { network: string; view: View }) {
  return (
    <>
      <h2>
        Holes in blocks {formatCount(view.from)} to {formatCount(view.to)}
      </h2>
      <Read name="coverage/holes" input={{ network, ...view, limit: 100 }} everyMs={10_000}>
        {({ holes, next, range }) =>
          holes.length === 0 && next === null ? (
            <Empty>All of these blocks are published.</Empty>
          ) : (
            <>
              <Export network={network} view={view} />
              <Table
                label="Holes"
                rows={holes}
                keyOf={({ kind, from }) => `${kind} ${from}`}
                columns={{
                  Kind: (hole) => <span class="word">{hole.kind}</span>,
                  Blocks: ({ from: start, to: end }) => (
                    <a href={toHref('coverage', { network, ...zoomOut(start, end) })}>
                      {start === end ? formatCount(start) : `${formatCount(start)} to ${formatCount(end)}`}
                    </a>
                  ),
                  Reason: (hole) => <strong>{REASONS[hole.reason]?.label}</strong>,
                  Cause: (hole) => <span class="word">{hole.quarantine?.cause}</span>,
                  Advice: (hole) => hole.advice,
                  Action: (hole) => <Remedy network={network} hole={hole} />,
                }}
              />
              {next !== null && (
                <p>These are the holes up to block {formatCount(range.to)}. Zoom in for later ones.</p>
              )}
            </>
          )
        }
      </Read>
    </>
  );
}

/** A hole with as many blocks at both sides of it. */
function zoomOut(start: number, end: number): View {
  const size = end - start + 1;
  return { from: Math.max(0, start - size), to: end + size };
}

/** The remedy of a hole: a button, or a link to one. */
function Remedy({ network, hole }: { network: string; hole: Hole }) {
  const { reason, from: start, to: end, kind } = hole;
  const [retried, setRetried] = useState(false);
  const mayChange = useMayChange();
  if (reason === 'halted') return <a href={toHref('alarms')}>View alarms</a>;
  if (reason === 'paused') return <a href={toHref('backfills', { network })}>View backfills</a>;
  if (reason === 'cancelled' || reason === 'not-requested') {
    return <a href={toHref('backfills/new', { network, kinds: kind, from: start, to: end })}>New backfill</a>;
  }
  if (reason !== 'quarantined') return <>none</>;
  if (!mayChange) {
    return <a href={toHref(`quarantine/${encodeURIComponent(network)}/${start}`)}>View responses</a>;
  }
  return (
    <>
      <ActionButton
        name="quarantine/retry"
        input={{ network, from: start, to: end }}
        done={() => setRetried(true)}
      >
        Retry now
      </ActionButton>
      {retried && <p role="status">A free worker retries it.</p>}
    </>
  );
}

/** Reads the holes of a view, page by page, into a file. */
function Export({ network, view }: { network: string; view: View }) {
  const [state, setState] = useState<{ text: string } | { error: ApiError } | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), [network, view.from, view.to]);
  const busy = state !== null && 'text' in state;
  const start = async (): Promise<void> => {
    const gone = new AbortController();
    running.current = gone;
    try {
      const rows: Hole[] = [];
      for (let from: number | null = view.from; from !== null && rows.length < MAX_ROWS; ) {
        setState({ text: `${formatCount(rows.length)} holes…` });
        const page: HolesPage = await read(
          'coverage/holes',
          { network, from, to: view.to, limit: 1_000 },
          gone.signal,
        );
        rows.push(...page.holes);
        from = page.next;
      }
      saveCsv(
        `holes-${network}-${view.from}-${view.to}.csv`,
        toCsv([HEADER, ...rows.slice(0, MAX_ROWS).map(toCells)]),
      );
      setState(null);
    } catch (problem) {
      if (gone.signal.aborted) setState(null);
      else if (problem instanceof ApiError) setState({ error: problem });
      else throw problem;
    }
  };
  return (
    <p>
      <button type="button" disabled={busy} onClick={start}>
        Export as CSV
      </button>{' '}
      <span class="faint" aria-live="polite">
        {busy ? state.text : `Up to ${formatCount(MAX_ROWS)} holes`}
      </span>
      {state !== null && 'error' in state && <Problem error={state.error} />}
    </p>
  );
}

const HEADER = ['kind', 'from', 'to', 'reason', 'staged', 'cause', 'attempts', 'next_try', 'advice'];

function toCells({ kind, from, to, reason, staged, quarantine, advice }: Hole) {
  const { cause, attempts, nextTry } = quarantine ?? { cause: null, attempts: null, nextTry: null };
  return [kind, from, to, reason, staged, cause, attempts, nextTry, advice];
}
