/** Ends the wait of a loop: the current one, or the next. */
interface Wake {
  ring(): void;
  /** Resolves after `ms`, on `ring`, or when the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export function createWake(): Wake {
  let rung = false;
  let hear: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      hear?.();
    },
    async wait(ms, signal) {
      if (!rung && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(() => done(), ms);
          const done = (): void => {
            clearTimeout(timer);
            signal.removeEventListener('abort', done);
            resolve();
          };
          hear = done;
          signal.addEventListener('abort', done, { once: true });
        });
      }
      hear = undefined;
      rung = false;
    },
  };
}
