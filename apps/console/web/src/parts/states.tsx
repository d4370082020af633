import type { ComponentChildren } from 'preact';
import type { ApiError } from '../lib/api.js';
import { differences } from '../lib/difference.js';
import { dateTime } from '../lib/format.js';
import { type Reading, useRead } from '../lib/use-read.js';

/**
 * What went wrong, and what to do. If another operator changed the thing meanwhile, how it is now, and with its
 * `subject` (as the log of actions names it) who did it.
 */
export function Problem({ error, subject }: { error: ApiError; subject?: string | undefined }) {
  const { now } = error.data;
  return (
    <div class="problem" role="alert">
      {error.message} {error.hint} <code>{error.code}</code>
      {typeof now === 'object' && now !== null && (
        <p>
          Now: {differences(null, now as Record<string, unknown>)}
          {subject !== undefined && <ChangedBy subject={subject} />}
        </p>
      )}
    </div>
  );
}

function ChangedBy({ subject }: { subject: string }) {
  const { value } = useRead<{ rows: { who: string; at: string }[] }>('changes', { subject, limit: 1 });
  const last = value?.rows[0];
  return last === undefined ? null : (
    <>
      {' '}
      by <bdi>{last.who}</bdi>, {dateTime(last.at)}.
    </>
  );
}

/** There is nothing to show: says why, and the next step. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

/** Shows what was read; while that fails, the last of it and since when it is old. */
export function Shown<T>({
  reading,
  children,
}: {
  reading: Reading<T>;
  children: (value: T) => ComponentChildren;
}) {
  const { value, at, error } = reading;
  return (
    <>
      {error !== null && (
        <>
          <Problem error={error} />
          {at !== null && <p class="old">The figures below are of {dateTime(at)}.</p>}
        </>
      )}
      {value !== undefined ? children(value) : error === null && <p class="waiting">Asking the console …</p>}
    </>
  );
}
