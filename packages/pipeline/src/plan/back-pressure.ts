import type { Database } from '@packhouse/database';
import type { Context } from '@packhouse/runtime';

/** Whether the staging area is full, for one network. */
export interface BackPressure {
  /** Measures at most once a second. */
  check(): Promise<PressureState>;
  /** Removes the network's gauge: another process reports from now on. */
  close(): void;
}

interface PressureState {
  /** Only blocks that allow packing are fetched. */
  pressed: boolean;
  /** `pressed` became true at this check. */
  began: boolean;
  /** Far above the limit: not even the head is staged. */
  severe: boolean;
}

/** Fetching resumes below this part of the limit, so that it does not stop and start with every bundle. */
const RESUME_AT = 0.9;
/** Above this multiple of the limit, blocks at the head wait as well. */
const SEVERE_AT = 1.5;
const CHECK_EVERY_MS = 1_000;

/**
 * Compares the bytes on disk of staging, all networks together, with a limit. Every change is logged once, and noted
 * in Postgres for `packhouse status`.
 */
export function createBackPressure(parts: {
  context: Context;
  database: Database;
  network: string;
  limitBytes: number;
}): BackPressure {
  const { context, database, network, limitBytes } = parts;
  const { logger, metrics, clock } = context;
  metrics
    .gauge('packhouse_staging_limit_bytes', 'Bytes of staging from which on nothing new is fetched')
    .set(limitBytes);
  const gauge = metrics.gauge(
    'packhouse_backpressure',
    '1 while nothing new is fetched because staging is full',
    ['network'],
  );
  let state: PressureState = { pressed: false, began: false, severe: false };
  let known = false;
  let checkedAt = Number.NEGATIVE_INFINITY;

  const change = async (pressed: boolean, stagedBytes: number): Promise<void> => {
    if (pressed) await database.network(network).pressure.note({ stagedBytes, limitBytes });
    else await database.network(network).pressure.clear();
    const facts = { network, stagedBytes, limitBytes };
    if (pressed) {
      logger.warn(facts, 'staging is full: nothing new is fetched until packing has made room');
    } else if (known) logger.info(facts, 'staging has room again: fetching goes on');
    known = true;
  };

  return {
    async check() {
      const now = clock.elapsed();
      if (now - checkedAt < CHECK_EVERY_MS) return { ...state, began: false };
      const bytes = await database.staging.diskBytes();
      const pressed = bytes > limitBytes * (state.pressed ? RESUME_AT : 1);
      const changed = pressed !== state.pressed;
      if (changed || !known) await change(pressed, bytes);
      gauge.set({ network }, pressed ? 1 : 0);
      checkedAt = now;
      state = { pressed, began: pressed && changed, severe: pressed && bytes > limitBytes * SEVERE_AT };
      return state;
    },
    close() {
      gauge.remove({ network });
    },
  };
}
