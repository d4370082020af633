import { useState } from 'preact/hooks';
import type { Answer } from '../../lib/answers.js';
import { onForm, toNumber } from '../../lib/form-values.js';
import { formatCount } from '../../lib/format.js';
import { useMayChange } from '../../lib/hooks/use-session.js';
import { Button } from '../../parts/button.js';
import { useChange } from '../../parts/changes.js';
import { Problem } from '../../parts/states.js';

export type Budget = Answer<'budgets'>['rows'][number];

/** A budget, or a provider that has none. */
export type Row = Budget | { provider: string; isNew: true };

const LIMITS = {
  perSecond: 'Limit per second',
  perDay: 'Limit per day',
  perMonth: 'Limit per month',
} as const;

/** One limit of a provider, changed in its place: Enter or its button saves it, Escape leaves it as it was. */
export function Cap({ row, limit }: { row: Row; limit: keyof typeof LIMITS }) {
  /** What is typed, and the row as it was when that began. */
  const [edited, edit] = useState<{ text: string; before: Row } | null>(null);
  const { busy, error, start } = useChange({ name: 'budgets/set', done: () => edit(null) });
  const mayChange = useMayChange();
  const { provider } = row;
  const getValue = (of: Row): number | null => ('isNew' in of ? null : of[limit]);
  const value = getValue(row);
  const unit = 'isNew' in row ? 'requests' : row.unit;
  if (!mayChange) return <>{value === null ? 'unlimited' : `${formatCount(value)} ${unit}`}</>;
  const save = onForm((form) => {
    if (edited === null) return;
    const { before } = edited;
    start(() => ({
      provider,
      [limit]: toNumber(form, 'limit'),
      expected: 'isNew' in before ? undefined : { [limit]: before[limit] },
    }));
  });
  return (
    <form class="cap" onSubmit={save}>
      <input
        name="limit"
        inputMode="decimal"
        pattern="[0-9_,.]*"
        aria-label={`${LIMITS[limit]} of ${provider}, in ${unit}`}
        placeholder="unlimited"
        size={12}
        value={edited?.text ?? (value === null ? '' : formatCount(value))}
        onInput={(event) => edit({ text: event.currentTarget.value, before: edited?.before ?? row })}
        onKeyDown={(event) => event.key === 'Escape' && edit(null)}
      />
      {edited !== null && (
        <Button type="submit" busy={busy}>
          Save
        </Button>
      )}
      {edited !== null && error !== null && <Problem error={error} subject={`budget ${provider}`} />}
    </form>
  );
}
