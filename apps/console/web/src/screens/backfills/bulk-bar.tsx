import { useState } from 'preact/hooks';
import type { Answer } from '../../lib/answers.js';
import { formatCount, pluralize } from '../../lib/format.js';
import { ActionButton } from '../../parts/changes.js';

/** What to do with the selected backfills, and what became of it. */
export function BulkBar({ ids, all, clear }: { ids: readonly number[]; all: () => void; clear: () => void }) {
  const [result, setResult] = useState('');
  const [reason, setReason] = useState('');
  if (ids.length === 0) return result === '' ? null : <p role="status">{result}</p>;
  const many = pluralize(ids.length, 'backfill');
  const done =
    (verb: string) =>
    (rows: Answer<'backfills/states'>): void => {
      const refused = rows.filter((row) => row.refused !== null);
      const left = refused.map(({ id, refused: why }) => `${id}: ${why}`).join(', ');
      setResult(
        `${formatCount(rows.length - refused.length)} ${verb}${refused.length === 0 ? '.' : `; unchanged: ${left}.`}`,
      );
      clear();
    };
  const button = (state: 'active' | 'paused' | 'cancelled', label: string, verb: string) => (
    <ActionButton
      name="backfills/states"
      input={{ ids, state, reason: state === 'active' || reason.trim() === '' ? undefined : reason }}
      confirm={
        state === 'cancelled'
          ? `Cancel ${many}? Staged and published blocks are kept; the rest is not fetched.`
          : undefined
      }
      done={done(verb)}
    >
      {label}
    </ActionButton>
  );
  return (
    <section class="bulk" aria-label="Selected backfills">
      <strong>{many} selected</strong>
      <input
        type="text"
        aria-label="Reason for pausing or cancelling"
        placeholder="Reason (optional)"
        maxLength={500}
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
      />
      {button('paused', 'Pause selected', 'paused')}
      {button('active', 'Resume selected', 'resumed')}
      {button('cancelled', 'Cancel selected', 'cancelled')}
      <ActionButton
        name="backfills/retry"
        input={{ ids }}
        done={(rows) => {
          const retried = rows.reduce((sum, row) => sum + row.retried, 0);
          setResult(`Retrying ${pluralize(retried, 'quarantined entry', 'quarantined entries')}.`);
          clear();
        }}
      >
        Retry quarantined
      </ActionButton>
      <button type="button" class="bare" onClick={all}>
        Select all shown
      </button>
      <button type="button" class="bare" onClick={clear}>
        Clear
      </button>
    </section>
  );
}
