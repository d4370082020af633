import { setMaxListeners } from 'node:events';
import type { Logger } from './observe/logger.js';
import { systemClock } from './time/clock.js';

/** Closes registered parts, last in, first out. */
export interface Shutdown extends ReturnType<typeof createShutdown> {}

/** Orchestrators wait 30 s, and a supervisor that ends several parts in turn needs some of that time. */
const DEFAULT_LIMIT_MS = 25_000;
/** The share of the limit after which work is cut off; the rest is for releasing jobs and locks. */
const CUT_AT = 0.85;

/** Creates a shutdown with a limit in milliseconds (default 25 s). */
export function createShutdown(options: { logger: Logger; limitMs?: number | undefined }) {
  const { logger } = options;
  const limitMs = options.limitMs ?? DEFAULT_LIMIT_MS;
  const begun = new AbortController();
  const cut = new AbortController();
  // Every part of a process listens to these two; Node warns from eleven listeners on.
  setMaxListeners(0, begun.signal, cut.signal);
  const parts: { name: string; close: () => unknown }[] = [];
  const open = new Set<string>();
  let running: Promise<{ clean: boolean }> | undefined;
  let closed = false;

  const wasCut = new Promise<void>((resolve) => {
    cut.signal.addEventListener('abort', () => resolve(), { once: true });
  });

  const closePart = async ({ name, close }: (typeof parts)[number]): Promise<void> => {
    open.add(name);
    try {
      await close();
    } catch (error) {
      logger.warn({ err: error, part: name }, 'closing failed');
    }
    open.delete(name);
  };

  const closeAll = async (): Promise<void> => {
    const closing: Promise<void>[] = [];
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      closing.push(closePart(part));
      // If a part hangs, the others are still closed once `cut` is aborted.
      await Promise.race([closing.at(-1), wasCut]);
    }
    await Promise.all(closing);
    closed = true;
  };

  const drain = async (reason: string): Promise<{ clean: boolean }> => {
    logger.info({ reason, limitMs }, 'draining');
    begun.abort(new Error(`shutting down: ${reason}`));
    const cutting = setTimeout(() => {
      logger.warn({ parts: [...open], limitMs }, 'draining takes too long: what still runs is cut off');
      cut.abort(new Error('the time to drain is over'));
    }, limitMs * CUT_AT);
    let ending: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      ending = setTimeout(() => resolve('late'), limitMs);
    });
    const outcome = await Promise.race([closeAll(), late]);
    clearTimeout(cutting);
    clearTimeout(ending);
    if (outcome === 'late') logger.warn({ parts: [...open], limitMs }, 'not all parts closed in time');
    return { clean: outcome !== 'late' && !cut.signal.aborted };
  };

  return {
    /** Aborted when the shutdown begins: start no new work, and return jobs that can be returned. */
    signal: begun.signal,
    /** Aborted shortly before the limit: work that was allowed to finish (a download, a bundle) must stop now. */
    cut: cut.signal,
    /** Registers what to close; `name` is for the log. */
    add: (name: string, close: () => unknown): void => {
      parts.push({ name, close });
      // Added when the process was already ending: nothing else would close it.
      if (closed) void closeAll();
    },
    /**
     * Closes everything, once; resolves when all is closed or the limit is over. `clean` is true if no work had to be
     * cut off.
     */
    run: (reason: string): Promise<{ clean: boolean }> => {
      running ??= drain(reason);
      return running;
    },
  };
}

/** npm passes on a signal that the terminal or systemd has already sent to all: two this close are one. */
const SAME_MOMENT_MS = 1_000;

/** Calls `first` at the first of these signals and `again` at later ones. Returns a function that ends this. */
export function onSignals<Name extends NodeJS.Signals>(
  host: NodeJS.Process,
  names: readonly Name[],
  { first, again }: { first(name: Name): void; again(name: Name): void },
): () => void {
  let firstAt: number | undefined;
  const undo = names.map((name) => {
    const listener = (): void => {
      const now = systemClock.elapsed();
      if (firstAt === undefined) {
        firstAt = now;
        first(name);
      } else if (now - firstAt > SAME_MOMENT_MS) again(name);
    };
    host.on(name, listener);
    return () => host.off(name, listener);
  });
  return () => {
    for (const each of undo) each();
  };
}
