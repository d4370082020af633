import type { Logger } from './logger.js';

/** Parts register what has to be closed; it is closed last in, first out. */
export interface Shutdown {
  /** Aborted when the shutdown begins. */
  readonly signal: AbortSignal;
  /** Registers what to close; `name` is for the log. */
  add(name: string, close: () => Promise<unknown> | unknown): void;
  /** Closes everything, once; resolves when all is closed or the grace period is over. `clean` says which. */
  run(reason: string): Promise<{ clean: boolean }>;
}

/** Makes a shutdown with a grace period in milliseconds (default 30 s, what orchestrators wait). */
export function createShutdown(options: { logger: Logger; graceMs?: number }): Shutdown {
  const controller = new AbortController();
  const parts: { name: string; close: () => Promise<unknown> | unknown }[] = [];
  let running: Promise<{ clean: boolean }> | undefined;

  let closed = false;

  const closeAll = async (): Promise<void> => {
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      try {
        await part.close();
      } catch (error) {
        options.logger.warn({ err: error, part: part.name }, 'closing failed');
      }
    }
    closed = true;
  };

  return {
    signal: controller.signal,
    add: (name, close) => {
      parts.push({ name, close });
      // Opened while the process was already ending: nobody else would close it.
      if (closed) void closeAll();
    },
    run: (reason) => {
      running ??= (async () => {
        options.logger.debug({ reason, parts: parts.map((part) => part.name) }, 'draining');
        controller.abort(new Error(`shutting down: ${reason}`));
        let timer: NodeJS.Timeout | undefined;
        const late = new Promise<{ clean: boolean }>((resolve) => {
          timer = setTimeout(() => resolve({ clean: false }), options.graceMs ?? 30_000);
        });
        const outcome = await Promise.race([closeAll().then(() => ({ clean: true })), late]);
        clearTimeout(timer);
        if (!outcome.clean)
          options.logger.warn({ graceMs: options.graceMs ?? 30_000 }, 'not all parts closed in time');
        return outcome;
      })();
      return running;
    },
  };
}
