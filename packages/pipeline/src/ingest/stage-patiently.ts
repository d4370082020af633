import type { StageRequest } from '@packhouse/database';
import { isPackhouseError } from '@packhouse/runtime';
import { type StageParts, stage } from './stage.js';

/** How long a Postgres that is away is waited for, in milliseconds: less than a job's lock lasts. */
const PATIENCE_MS = 8_000;
const RETRY_MS = 400;

/**
 * Stages a run like `stage`, and waits for a Postgres that is away for a moment: what was fetched and proved is not
 * fetched again because of its restart. Throws DATABASE_UNAVAILABLE where it stays away.
 */
export async function stagePatiently(
  parts: StageParts,
  request: StageRequest,
  signal: AbortSignal,
): Promise<void> {
  const { clock, logger } = parts.context;
  const until = clock.now() + PATIENCE_MS;
  for (;;) {
    try {
      await stage(parts, request, signal);
      return;
    } catch (error) {
      if (!isPackhouseError(error, 'DATABASE_UNAVAILABLE') || clock.now() >= until) throw error;
      logger.warn({ network: parts.network, err: error }, 'Postgres is away; what was fetched waits for it');
      await clock.sleep(RETRY_MS, signal);
    }
  }
}
