import type { Clock } from '@packhouse/runtime';

/**
 * A circuit breaker.
 *
 *   closed ──5 failures in a row──▶ open ──cool-down over──▶ half-open (one probe) ──success──▶ closed
 *                                    ▲                              │
 *                                    └──failure, cool-down doubled──┘
 */
export type Circuit = ReturnType<typeof createCircuit>;

const FAILURES = 5;
const COOL_DOWN_MS = 1_000;
const MAX_COOL_DOWN_MS = 30_000;

/** Creates a closed circuit; `onChange` is called when it opens or closes. */
export function createCircuit(options: { clock: Clock; onChange?: (open: boolean) => void }) {
  const { clock } = options;
  let failures = 0;
  /** Of the first failure since the last success. */
  let failingSince = 0;
  let openings = 0;
  let openUntil: number | null = null;
  let coolDownMs = COOL_DOWN_MS;
  let probe: { done: Promise<void>; end: () => void } | null = null;

  const endProbe = (): void => {
    probe?.end();
    probe = null;
  };

  const open = (): void => {
    openings += 1;
    openUntil = clock.elapsed() + coolDownMs;
  };

  return {
    /** How often it opened, also again after a probe that failed. */
    get openings() {
      return openings;
    },
    get state(): 'closed' | 'open' | 'half-open' {
      if (openUntil === null) return 'closed';
      return probe !== null || clock.elapsed() >= openUntil ? 'half-open' : 'open';
    },
    /** For how many milliseconds it has only failed; null: it is closed. */
    failingForMs: (): number | null => (openUntil === null ? null : clock.elapsed() - failingSince),
    /** Milliseconds until a request is allowed; 0 now. Infinity while the one probe is in flight: see `settled`. */
    waitMs: (): number => {
      if (openUntil === null) return 0;
      if (probe !== null) return Number.POSITIVE_INFINITY;
      return Math.max(0, openUntil - clock.elapsed());
    },
    /** Takes the probe's place if the circuit is half-open; call `leave` when done, whatever the outcome. */
    enter: (): { leave: () => void } => {
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
    /** Resolves when the probe in flight has ended. */
    settled: (): Promise<void> => probe?.done ?? Promise.resolve(),
    succeeded: (): void => {
      failures = 0;
      if (openUntil === null) return;
      openUntil = null;
      coolDownMs = COOL_DOWN_MS;
      endProbe();
      options.onChange?.(false);
    },
    failed: (): void => {
      failures += 1;
      if (failures === 1) failingSince = clock.elapsed();
      if (openUntil === null) {
        if (failures < FAILURES) return;
        open();
        options.onChange?.(true);
      } else if (probe !== null) {
        coolDownMs = Math.min(MAX_COOL_DOWN_MS, coolDownMs * 2);
        open();
        endProbe();
      }
    },
  };
}
