import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answer } from '../../lib/answers.js';
import { read } from '../../lib/api.js';
import { saveCsv, toCsv } from '../../lib/csv.js';
import { formatCount, pluralize } from '../../lib/format.js';
import { useTask } from '../../lib/hooks/use-task.js';
import { Button } from '../../parts/button.js';
import { Problem } from '../../parts/states.js';
import type { View } from './map/coverage-view.js';

type HolesPage = Answer<'coverage/holes'>;
type Hole = HolesPage['holes'][number];

/** Rows of a file. */
const MAX_ROWS = 100_000;

/** Reads the holes of a view, page by page, into a file. */
export function HolesExport({ network, view }: { network: string; view: View }) {
  const [found, setFound] = useState(0);
  const { busy, error, run } = useTask();
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), [network, view.from, view.to]);
  const start = () =>
    run(async () => {
      const gone = new AbortController();
      running.current = gone;
      const rows: Hole[] = [];
      for (let from: number | null = view.from; from !== null && rows.length < MAX_ROWS; ) {
        setFound(rows.length);
        const input = { network, from, to: view.to, limit: 1_000 };
        const page: HolesPage = await read('coverage/holes', input, gone.signal);
        rows.push(...page.holes);
        from = page.next;
      }
      const cells = rows.slice(0, MAX_ROWS).map(toCells);
      saveCsv(`holes-${network}-${view.from}-${view.to}.csv`, toCsv([HEADER, ...cells]));
    });
  return (
    <span class="end">
      <Button busy={busy} onClick={start}>
        Export as CSV
      </Button>{' '}
      <span class="faint" aria-live="polite">
        {busy ? `${pluralize(found, 'hole')}…` : `Up to ${formatCount(MAX_ROWS)} holes`}
      </span>
      {error !== null && <Problem error={error} />}
    </span>
  );
}

const HEADER = ['kind', 'from', 'to', 'reason', 'staged', 'cause', 'attempts', 'next_try', 'advice'];

function toCells({ kind, from, to, reason, staged, quarantine, advice }: Hole) {
  const { cause, attempts, nextTry } = quarantine ?? { cause: null, attempts: null, nextTry: null };
  return [kind, from, to, reason, staged, cause, attempts, nextTry, advice];
}
