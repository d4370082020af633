import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, read } from '../lib/api.js';
import type { View } from '../lib/coverage-view.js';
import { csv } from '../lib/csv.js';
import { count } from '../lib/format.js';
import { hrefOf } from '../lib/route.js';
import { useRead } from '../lib/use-read.js';
import { ActionButton } from '../parts/action-button.js';
import { Empty, Problem, Shown } from '../parts/states.js';
import { Table } from '../parts/table.js';

interface Hole {
  kind: string;
  start: number;
  end: number;
  reason: string;
  staged: boolean;
  quarantine: { cause: string; attempts: number; nextTry: string } | null;
  needs: string;
}

interface HolesPage {
  range: { start: number; end: number };
  next: number | null;
  holes: Hole[];
}

/** Rows of a file, at most. */
const MAX_ROWS = 100_000;

/** The first holes of what the map shows, with what mends each, and all of them as a file. */
export function HolesTable(props: { network: string; view: View; mayChange: boolean; changed: () => void }) {
  const { network, view, mayChange } = props;
  const reading = useRead<HolesPage>('coverage/holes', { network, ...view, limit: 100 }, 10_000);
  const changed = (): void => {
    reading.again();
    props.changed();
  };
  return (
    <>
      <h2>
        Holes of blocks {count(view.from)} to {count(view.to)}
      </h2>
      <Shown reading={reading}>
        {({ holes, next, range }) =>
          holes.length === 0 && next === null ? (
            <Empty>Everything of these blocks is published.</Empty>
          ) : (
            <>
              <Export network={network} view={view} />
              <Table
                label="Holes"
                rows={holes}
                keyOf={({ kind, start }) => `${kind} ${start}`}
                columns={[
                  { title: 'Kind', cell: (hole) => <span class="word">{hole.kind}</span> },
                  {
                    title: 'Blocks',
                    cell: ({ start, end }) => (
                      <a href={hrefOf('coverage', { network, ...around(start, end) })}>
                        {start === end ? count(start) : `${count(start)} to ${count(end)}`}
                      </a>
                    ),
                  },
                  { title: 'Reason', cell: (hole) => <strong class="word">{hole.reason}</strong> },
                  { title: 'Cause', cell: (hole) => <span class="word">{hole.quarantine?.cause}</span> },
                  { title: 'What it needs', cell: (hole) => hole.needs },
                  {
                    title: 'Action',
                    cell: (hole) => <Mend {...{ network, hole, mayChange, changed }} />,
                  },
                ]}
              />
              {next !== null && (
                <p>These are the holes up to block {count(range.end)}; zoom in for those behind it.</p>
              )}
            </>
          )
        }
      </Shown>
    </>
  );
}

/** A hole with as many blocks at both sides of it. */
function around(start: number, end: number): View {
  const size = end - start + 1;
  return { from: Math.max(0, start - size), to: end + size };
}

/** What mends a hole: a button, or the place where it is mended. */
function Mend(props: { network: string; hole: Hole; mayChange: boolean; changed: () => void }) {
  const { network, hole, mayChange, changed } = props;
  const { reason, start, end, kind } = hole;
  const [asked, setAsked] = useState(false);
  if (reason === 'halted') return <a href={hrefOf('alarms')}>See the alarm</a>;
  if (reason === 'paused') return <a href={hrefOf('backfills', { network })}>Resume its backfill</a>;
  if (reason === 'cancelled' || reason === 'not-wanted') {
    return <a href={hrefOf('backfills', { network, kinds: kind, start, end })}>Order a backfill</a>;
  }
  if (reason !== 'quarantined') return <>comes by itself</>;
  if (!mayChange) return <a href={hrefOf('quarantine', { network, block: start })}>What was answered</a>;
  const done = (): void => {
    setAsked(true);
    changed();
  };
  return (
    <>
      <ActionButton name="quarantine/retry" input={{ network, start, end }} done={done}>
        Try again
      </ActionButton>
      {asked && <p role="status">It is tried as soon as a worker is free.</p>}
    </>
  );
}

/** Reads the holes of a view page by page and hands them over as a file. */
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
        setState({ text: `${count(rows.length)} holes read …` });
        const page: HolesPage = await read(
          'coverage/holes',
          { network, from, to: view.to, limit: 1_000 },
          gone.signal,
        );
        rows.push(...page.holes);
        from = page.next;
      }
      save(
        `holes-${network}-${view.from}-${view.to}.csv`,
        csv([HEADER, ...rows.slice(0, MAX_ROWS).map(cells)]),
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
        {busy ? state.text : `At most ${count(MAX_ROWS)} holes.`}
      </span>
      {state !== null && 'error' in state && <Problem error={state.error} />}
    </p>
  );
}

const HEADER = [
  'kind',
  'start_block',
  'end_block',
  'reason',
  'staged',
  'cause',
  'attempts',
  'next_try',
  'needs',
];

function cells({ kind, start, end, reason, staged, quarantine, needs }: Hole) {
  const { cause, attempts, nextTry } = quarantine ?? { cause: null, attempts: null, nextTry: null };
  return [kind, start, end, reason, staged, cause, attempts, nextTry, needs];
}

function save(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
