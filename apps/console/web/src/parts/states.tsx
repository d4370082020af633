import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Answer, Input, OperationName } from '../lib/answers.js';
import type { ApiError } from '../lib/api.js';
import { formatDifferences } from '../lib/difference.js';
import { formatDate } from '../lib/format.js';
import { useRead } from '../lib/hooks/use-read.js';

/**
 * What went wrong, and what to do. If another operator changed the thing meanwhile, its present state, and with its
 * `subject` (as the change log names it) the author.
 */
export function Problem({ error, subject }: { error: ApiError; subject?: string | undefined }) {
  const { now } = error.data;
  return (
    <div class="problem" role="alert">
      {error.message} {error.hint} <code>{error.code}</code>
      {typeof now === 'object' && now !== null && (
        <p>
          Now: {formatDifferences(null, now as Record<string, unknown>)}
          {subject !== undefined && <ChangedBy subject={subject} />}
        </p>
      )}
    </div>
  );
}

function ChangedBy({ subject }: { subject: string }) {
  const { value } = useRead('changes', { subject, limit: 1 });
  const last = value?.rows[0];
  return last === undefined ? null : (
    <>
      {' '}
      by <bdi>{last.actor}</bdi>, {formatDate(last.at)}.
    </>
  );
}

/** Nothing to show: why, and the next step. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

const Reload = createContext((): void => undefined);
/** Reads again what is shown around; to be called after a change. */
export const useReload = () => useContext(Reload);

/** Reads something and shows it; while reading fails, the last of it and its date. */
export function Read<N extends OperationName>(given: {
  name: N;
  input?: Input<N> | undefined;
  everyMs?: number | undefined;
  /** Shown before it, also while it is not read. */
  above?: ComponentChildren;
  children: (value: Answer<N>) => ComponentChildren;
}) {
  const { name, input, everyMs, above, children } = given;
  const { value, at, error, reload } = useRead(name, input, everyMs);
  const outer = useReload();
  const reloadAll = (): void => {
    reload();
    outer();
  };
  return (
    <Reload.Provider value={reloadAll}>
      {above}
      {error !== null && (
        <>
          <Problem error={error} />
          {at !== null && <p class="old">Last updated {formatDate(at)}.</p>}
        </>
      )}
      {value !== undefined ? children(value) : error === null && <p class="waiting">Loading…</p>}
    </Reload.Provider>
  );
}
