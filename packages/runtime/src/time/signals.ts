import { setMaxListeners } from 'node:events';

/** The part of an AbortSignal that a call needs; every AbortSignal is one. */
export interface CallSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * Stops a call: an AbortController that is its own signal and calls each listener once. Node's AbortController costs
 * some ten microseconds to create, listen to and abort, as much as the rest of a small call.
 */
export class CallController implements CallSignal {
  aborted = false;
  reason: unknown;
  /** Most calls have one or two listeners. */
  #listeners: (() => void)[] = [];

  addEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at !== -1) this.#listeners.splice(at, 1);
  }

  /** Calls all listeners; does nothing if it is aborted already. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}

/** Work that each of several signals can end. */
export interface Scope {
  readonly signal: AbortSignal;
  /** Keeps the scope listening until the function it returns is called. */
  hold(): () => void;
  abort(reason: unknown): void;
  /** Stops listening, once nothing holds the scope. */
  close(): void;
}

/**
 * Joins signals into one. AbortSignal.any is not used: on Node 20 its result stays reachable from a long-lived signal,
 * such as that of the process.
 */
export function openScope(...signals: (AbortSignal | undefined)[]): Scope {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const unlink: (() => void)[] = [];
  let holders = 1;
  for (const signal of signals) {
    if (signal === undefined) continue;
    if (signal.aborted) {
      controller.abort(signal.reason);
      break;
    }
    const abort = (): void => controller.abort(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    unlink.push(() => signal.removeEventListener('abort', abort));
  }
  const leave = (): (() => void) => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      holders -= 1;
      if (holders === 0) for (const undo of unlink) undo();
    };
  };
  const close = leave();
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    hold: () => {
      holders += 1;
      return leave();
    },
    close,
  };
}

/** Resolves as the promise, or rejects with the signal's reason as soon as it is aborted. */
export function untilAborted<T>(promise: Promise<T>, signal: CallSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => undefined);
    return Promise.reject(signal.reason);
  }
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Shares a run of `work` that is still under way among all who ask for one. */
export function shareRun<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => {
    underWay ??= work().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}

/** Runs `write` every `everyMs`, one run at a time; `close` ends that with a last run. */
export function writeEvery(everyMs: number, write: () => Promise<void>): { close(): Promise<void> } {
  let writing: Promise<void> | undefined;
  const run = shareRun(() => {
    writing = write();
    return writing;
  });
  const timer = setInterval(() => void run(), everyMs);
  timer.unref();
  return {
    async close() {
      clearInterval(timer);
      await writing;
      await run();
    },
  };
}

/** What `work` resolves to; rejects with `late()` if that takes longer than `ms`. */
export async function withinMs<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
