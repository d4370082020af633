import { textOf } from '../parts/change-form.js';
import { WindowsEditor } from '../parts/windows-editor.js';
import type { Range } from './backfill-parts.js';

type Terms = Pick<Range, 'priority' | 'owner' | 'weight' | 'windows' | 'deadline' | 'maxRequests'>;

export const USUAL: Terms = {
  ...{ priority: 100, owner: 'default', weight: 1 },
  ...{ windows: [], deadline: null, maxRequests: null },
};

/** Fields for the terms of a backfill. */
export function TermsFields({ terms }: { terms: Terms }) {
  return (
    <>
      <label>
        Priority, 1 is first{' '}
        <input name="priority" type="number" min={1} max={1000} required defaultValue={terms.priority} />
      </label>
      <label>
        Owner; owners share a network equally{' '}
        <input
          name="owner"
          required
          maxLength={64}
          pattern="[a-z0-9][a-z0-9._\-]*"
          title="lower-case letters, digits, dots, dashes and underscores"
          defaultValue={terms.owner}
        />
      </label>
      <label>
        Weight beside others of its priority{' '}
        <input name="weight" type="number" min={1} max={1000} required defaultValue={terms.weight} />
      </label>
      <label>
        Deadline, empty: none{' '}
        <input name="deadline" type="datetime-local" defaultValue={localText(terms.deadline)} />
      </label>
      <label>
        Requests to nodes at most, empty: no limit{' '}
        <input
          name="maxRequests"
          inputMode="numeric"
          pattern="[0-9_,]*"
          defaultValue={terms.maxRequests ?? ''}
        />
      </label>
      <WindowsEditor initial={terms.windows} />
    </>
  );
}

/** The terms in a form that differ from these. */
export function termsIn(form: FormData, before: Terms): Partial<Terms> {
  const deadline = textOf(form, 'deadline');
  const same = deadline === (localText(before.deadline) || undefined);
  const maxRequests = textOf(form, 'maxRequests')?.replace(/[_,]/g, '');
  const now: Terms = {
    priority: Number(textOf(form, 'priority')),
    owner: textOf(form, 'owner') ?? before.owner,
    weight: Number(textOf(form, 'weight')),
    windows: (textOf(form, 'windows') ?? '')
      .split('\n')
      .flatMap((line) => (line.trim() === '' ? [] : [line.trim()])),
    deadline: same ? before.deadline : deadline === undefined ? null : new Date(deadline).toISOString(),
    maxRequests: maxRequests === undefined ? null : Number(maxRequests),
  };
  return Object.fromEntries(
    Object.entries(now).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof Terms]),
    ),
  );
}

/** A point in time as a field shows it, in the zone of the browser. */
function localText(value: string | null): string {
  if (value === null) return '';
  const date = new Date(value);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
