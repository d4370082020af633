import { useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, read } from './api.js';
import { listen, type News } from './live.js';

/** Something that was read from the console. */
export interface Reading<T> {
  /** The newest that was read; undefined: nothing yet. It stays while reading fails. */
  value: T | undefined;
  /** When it was read (Date.now); null: not yet. */
  at: number | null;
  /** Why the last attempt failed; null: it did not. */
  error: ApiError | null;
  /** Reads at once, unless the console tells of changes anyway. */
  again(): void;
}

/**
 * Reads at once, when the input changes, and then as the console tells of changes (see `live.ts`), or where it does not,
 * every so many milliseconds (default 5,000) while the page is seen.
 */
export function useRead<T>(
  name: string,
  input: Readonly<Record<string, unknown>> = {},
  everyMs = 5_000,
): Reading<T> {
  const [state, setState] = useState<Omit<Reading<T>, 'again'>>({ value: undefined, at: null, error: null });
  const again = useRef<() => void>(() => undefined);
  const query = JSON.stringify(input);
  useEffect(() => {
    const gone = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let reading = false;
    let live = false;
    const look = async (): Promise<void> => {
      clearTimeout(timer);
      if (gone.signal.aborted || reading || live) return;
      reading = true;
      try {
        const value = await read<T>(name, JSON.parse(query), gone.signal);
        // What was told meanwhile is newer.
        if (!gone.signal.aborted && !live) setState({ value, at: Date.now(), error: null });
      } catch (error) {
        if (!gone.signal.aborted) setState((before) => ({ ...before, error: error as ApiError }));
      }
      reading = false;
      if (!gone.signal.aborted && !document.hidden && !live) timer = setTimeout(look, everyMs);
    };
    const shown = (): void => {
      if (!document.hidden) void look();
    };
    again.current = () => void look();
    const hear = (news: News | null): void => {
      live = news !== null && (live || news.rows !== undefined);
      if (news === null) return void look();
      if (live) clearTimeout(timer);
      const { rows, ageMs, error } = news;
      setState((before) => ({
        value: (rows as T | undefined) ?? before.value,
        at:
          before.value === undefined && rows === undefined
            ? null
            : Math.max(before.at ?? 0, Date.now() - ageMs),
        error,
      }));
    };
    const deaf = query === '{}' ? listen(name, hear) : undefined;
    document.addEventListener('visibilitychange', shown);
    void look();
    return () => {
      deaf?.();
      gone.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', shown);
    };
  }, [name, query, everyMs]);
  return { ...state, again: () => again.current() };
}
