import type { ComponentChildren } from 'preact';
import type { ApiError } from '../lib/api.js';
import { dateTime } from '../lib/format.js';
import type { Reading } from '../lib/use-read.js';

/** What went wrong, and what to do. */
export function Problem({ error }: { error: ApiError }) {
  return (
    <p class="problem" role="alert">
      {error.message} {error.hint} <code>{error.code}</code>
    </p>
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
