import type { Logger } from './logger.js';

/** Parts register what has to be closed; it is closed last in, first out. */
export interface Shutdown {
  /** Aborted when the shutdown begins: nothing new is begun, and what can be given back is. */
  readonly signal: AbortSignal;
  /** Aborted a moment before the limit: work that may finish (a download, a bundle) is cut off now. */
  readonly cut: AbortSignal;
  /** Registers what to close; `name` is for the log. */
  add(name: string, close: () => Promise<unknown> | unknown): void;
  /**
   * Closes everything, once; resolves when all is closed or the limit is over. `clean` says that nothing had to be
   * cut off.
   */
  run(reason: string): Promise<{ clean: boolean }>;
}

/** Orchestrators wait 30 s, and a supervisor that ends several parts in turn needs some of it for itself. */
const DEFAULT_LIMIT_MS = 25_000;
/** The share of the limit after which things are cut off; the rest is for giving back jobs and locks. */
const CUT_AT = 0.85;

/** Makes a shutdown with a limit in milliseconds (default 25 s). */
export function createShutdown(options: { logger: Logger; limitMs?: number | undefined }): Shutdown {
  const { logger } = options;
  const limitMs = options.limitMs ?? DEFAULT_LIMIT_MS;
  const begun = new AbortController();
  const cut = new AbortController();
  const parts: { name: string; close: () => Promise<unknown> | unknown }[] = [];
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
      // Behind a part that hangs the others still get their turn, once time is short.
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
    signal: begun.signal,
    cut: cut.signal,
    add: (name, close) => {
      parts.push({ name, close });
      // Opened while the process was already ending: nobody else would close it.
      if (closed) void closeAll();
    },
    run: (reason) => {
      running ??= drain(reason);
      return running;
    },
  };
}
