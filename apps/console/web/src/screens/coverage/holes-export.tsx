import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answer } from '../../lib/answers.js';
import { ApiError, read } from '../../lib/api.js';
import { saveCsv, toCsv } from '../../lib/csv.js';
import { formatCount, pluralize } from '../../lib/format.js';
import { Button } from '../../parts/button.js';
import { Problem } from '../../parts/states.js';
import type { View } from './map/coverage-view.js';

type HolesPage = Answer<'coverage/holes'>;
type Hole = HolesPage['holes'][number];

/** Rows of a file. */
const MAX_ROWS = 100_000;

/** Reads the holes of a view, page by page, into a file. */
export function HolesExport({ network, view }: { network: string; view: View }) {
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
        setState({ text: `${pluralize(rows.length, 'hole')}…` });
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
    <span class="end">
      <Button busy={busy} onClick={start}>
        Export as CSV
      </Button>{' '}
      <span class="faint" aria-live="polite">
        {busy ? state.text : `Up to ${formatCount(MAX_ROWS)} holes`}
      </span>
      {state !== null && 'error' in state && <Problem error={state.error} />}
    </span>
  );
}

const HEADER = ['kind', 'from', 'to', 'reason', 'staged', 'cause', 'attempts', 'next_try', 'advice'];

function toCells({ kind, from, to, reason, staged, quarantine, advice }: Hole) {
  const { cause, attempts, nextTry } = quarantine ?? { cause: null, attempts: null, nextTry: null };
  return [kind, from, to, reason, staged, cause, attempts, nextTry, advice];
}
