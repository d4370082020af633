import { toLines, toNumber, toText } from '../../lib/form-values.js';
import { toLocalIso } from '../../lib/format.js';
import { Field, NumberField } from '../../parts/fields.js';
import { WindowsEditor } from '../../parts/windows-editor.js';
import type { Range } from './backfill-parts.js';

type Terms = Pick<Range, 'priority' | 'owner' | 'weight' | 'windows' | 'deadline' | 'maxRequests'>;

export const DEFAULT_TERMS: Terms = {
  priority: 100,
  owner: 'default',
  weight: 1,
  windows: [],
  deadline: null,
  maxRequests: null,
};

const RANK = { type: 'number', min: 1, max: 1000, required: true } as const;

/** Fields for the terms of a backfill. */
export function TermsFields({ terms }: { terms: Terms }) {
  return (
    <>
      <div class="form-grid">
        <Field label="Priority (1 is first)" name="priority" {...RANK} defaultValue={terms.priority} />
        <Field
          label="Owner (owners share a network equally)"
          name="owner"
          required
          maxLength={64}
          pattern="[a-z0-9][a-z0-9._\-]*"
          title="lower-case letters, digits, dots, dashes and underscores"
          defaultValue={terms.owner}
        />
        <Field label="Weight among equal priorities" name="weight" {...RANK} defaultValue={terms.weight} />
        <Field
          label="Deadline (empty: none)"
          name="deadline"
          type="datetime-local"
          defaultValue={toLocalText(terms.deadline)}
        />
        <NumberField
          label="Max requests to nodes (empty: unlimited)"
          name="maxRequests"
          value={terms.maxRequests}
        />
      </div>
      <WindowsEditor initial={terms.windows} />
    </>
  );
}

/** The terms in a form that differ from these. */
export function getTerms(form: FormData, before: Terms): Partial<Terms> {
  const deadline = toText(form, 'deadline');
  const same = deadline === (toLocalText(before.deadline) || undefined);
  const now: Terms = {
    priority: Number(toText(form, 'priority')),
    owner: toText(form, 'owner') ?? before.owner,
    weight: Number(toText(form, 'weight')),
    windows: toLines(form, 'windows', '\n'),
    deadline: same ? before.deadline : deadline === undefined ? null : new Date(deadline).toISOString(),
    maxRequests: toNumber(form, 'maxRequests'),
  };
  return Object.fromEntries(
    Object.entries(now).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof Terms]),
    ),
  );
}

/** A point in time as a field shows it, in the zone of the browser. */
const toLocalText = (value: string | null): string => (value === null ? '' : toLocalIso(value).slice(0, 16));
