import type { Clock } from '@packhouse/runtime';

/**
 * A circuit breaker.
 *
 *   closed ──5 failures in a row──▶ open ──cool-down over──▶ half-open (one probe) ──success──▶ closed
 *                                    ▲                              │
 *                                    └──failure, cool-down doubled──┘
 */
export interface Circuit {
  readonly state: 'closed' | 'open' | 'half-open';
  /** Milliseconds until a request is allowed; 0 now. Infinity while the one probe is in flight: see `settled`. */
  waitMs(): number;
  /** Takes the probe's place if the circuit is half-open; call `leave` when done, whatever the outcome. */
  enter(): { leave: () => void };
  /** Resolves when the probe in flight has ended. */
  settled(): Promise<void>;
  succeeded(): void;
  failed(): void;
}

const FAILURES = 5;
const COOL_DOWN_MS = 1_000;
const LONGEST_COOL_DOWN_MS = 30_000;

/** Creates a closed circuit; `onChange` is called when it opens or closes. */
export function createCircuit(options: { clock: Clock; onChange?: (open: boolean) => void }): Circuit {
  const { clock } = options;
  let failures = 0;
  let openUntil: number | null = null;
  let coolDownMs = COOL_DOWN_MS;
  let probe: { done: Promise<void>; end: () => void } | null = null;

  const endProbe = (): void => {
    probe?.end();
    probe = null;
  };

  return {
    get state() {
      if (openUntil === null) return 'closed';
      return probe !== null || clock.elapsed() >= openUntil ? 'half-open' : 'open';
    },
    waitMs: () => {
      if (openUntil === null) return 0;
      if (probe !== null) return Number.POSITIVE_INFINITY;
      return Math.max(0, openUntil - clock.elapsed());
    },
    enter: () => {
      if (openUntil === null || probe !== null) return { leave: () => undefined };
      let end = (): void => undefined;
      const done = new Promise<void>((resolve) => {
        end = resolve;
      });
      const mine = { done, end };
      probe = mine;
      return {
        leave: () => {
          if (probe === mine) endProbe();
        },
      };
    },
    settled: () => probe?.done ?? Promise.resolve(),
    succeeded: () => {
      failures = 0;
      if (openUntil === null) return;
      openUntil = null;
      coolDownMs = COOL_DOWN_MS;
      endProbe();
      options.onChange?.(false);
    },
    failed: () => {
      failures += 1;
      if (openUntil === null) {
        if (failures < FAILURES) return;
        openUntil = clock.elapsed() + coolDownMs;
        options.onChange?.(true);
      } else if (probe !== null) {
        coolDownMs = Math.min(LONGEST_COOL_DOWN_MS, coolDownMs * 2);
        openUntil = clock.elapsed() + coolDownMs;
        endProbe();
      }
    },
  };
}
