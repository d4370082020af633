import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Answer, Input, OperationName } from '../answers.js';
import { type ApiError, read } from '../api.js';
import { getNow } from '../clock.js';
import { listen, type News } from '../live.js';

/** Something that was read from the console. */
interface Reading<T> {
  /** The newest that was read; undefined: nothing yet. It stays while reading fails. */
  value: T | undefined;
  /** When it was read (by the console's clock); null: not yet. */
  at: number | null;
  /** Why the last attempt failed; null: it did not. */
  error: ApiError | null;
  /** Reads at once, unless the console sends its changes. */
  reload(): void;
}

/**
 * Reads at once, when the input changes, and then as the console sends changes (see `live.ts`), or else
 * every `everyMs` while the page is visible.
 */
export function useRead<N extends OperationName>(
  name: N,
  input: Input<N> = {},
  everyMs = 5_000,
): Reading<Answer<N>> {
  type T = Answer<N>;
  const [state, setState] = useState<Omit<Reading<T>, 'reload'>>({ value: undefined, at: null, error: null });
  const reload = useRef<() => void>(() => undefined);
  const query = JSON.stringify(input);
  // Before the page is painted, which costs a frame: the answer may be there.
  useLayoutEffect(() => {
    const aborter = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let reading = false;
    /** Something has changed since what is read now was asked for. */
    let isOld = false;
    let live = false;
    const load = async (): Promise<void> => {
      clearTimeout(timer);
      if (aborter.signal.aborted || reading || live) return;
      reading = true;
      isOld = false;
      try {
        const value = await read(name, JSON.parse(query), aborter.signal);
        // What arrived meanwhile is newer.
        if (!aborter.signal.aborted && !live) setState({ value, at: getNow(), error: null });
      } catch (error) {
        if (!aborter.signal.aborted) setState((before) => ({ ...before, error: error as ApiError }));
      }
      reading = false;
      if (isOld) return load();
      if (!aborter.signal.aborted && !document.hidden && !live) timer = setTimeout(load, everyMs);
    };
    const onVisible = (): void => {
      if (!document.hidden) void load();
    };
    reload.current = () => {
      isOld = reading;
      void load();
    };
    const onNews = (news: News | null): void => {
      live = news !== null && (live || news.rows !== undefined);
      if (news === null) return void load();
      if (live) clearTimeout(timer);
      const { rows, ageMs, error } = news;
      setState((before) => ({
        value: (rows as T | undefined) ?? before.value,
        at:
          before.value === undefined && rows === undefined
            ? null
            : Math.max(before.at ?? 0, getNow() - ageMs),
        error,
      }));
    };
    const stop = query === '{}' ? listen(name, onNews) : undefined;
    document.addEventListener('visibilitychange', onVisible);
    void load();
    return () => {
      stop?.();
      aborter.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [name, query, everyMs]);
  return { ...state, reload: () => reload.current() };
}
