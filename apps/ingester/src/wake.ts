import { openScope, systemClock } from '@packhouse/runtime';

/** Ends the wait of a loop: the current one, or the next. */
export interface Wake {
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
        const scope = openScope(signal);
        hear = () => scope.abort(undefined);
        await systemClock.sleep(ms, scope.signal).catch(() => undefined);
        scope.close();
      }
      hear = undefined;
      rung = false;
    },
  };
}
