import type { StageRequest } from '@packhouse/database';
import { isPackhouseError, type PackhouseError } from '@packhouse/runtime';
import { isAccepted, isBelowFinality, raiseFinalityAlarm } from '../head/finality-alarm.js';
import { type ChainParts, dropConflicting } from '../head/reorganise.js';

/**
 * Stages one run of proved blocks in one transaction.
 *
 * If its hashes do not fit the staged or published blocks, the chain decides: staged blocks that it has abandoned are
 * dropped and the run is staged again, once. Throws STAGE_CONFLICT if the run itself is wrong. Throws
 * REORG_BELOW_FINALITY, with the alarm raised, if no upstream has the block that is published or final here.
 */
export async function stage(parts: ChainParts, request: StageRequest, signal: AbortSignal): Promise<void> {
  try {
    await parts.database.staging.stage(request);
  } catch (error) {
    if (!isPackhouseError(error, 'STAGE_CONFLICT')) throw error;
    parts.context.logger.warn({ err: error, network: parts.network }, 'staged blocks disagree');
    const finalized = (await parts.database.head.get())?.finalized ?? -1;
    if (isFinal(error, finalized)) await checkFinal(parts, error, signal);
    if (!(await dropConflicting(parts, request.blocks, finalized + 1, signal))) throw error;
    await parts.database.staging.stage(request);
  }
}

/** How long to wait for an unavailable Postgres, in milliseconds: less than a job's lock lasts. */
const PATIENCE_MS = 8_000;
const RETRY_MS = 400;

/**
 * Stages a run like `stage`, and waits while Postgres is briefly unavailable, so that its restart causes no block to be
 * fetched again. Throws DATABASE_UNAVAILABLE if it stays so.
 */
export async function stagePatiently(
  parts: ChainParts,
  request: StageRequest,
  signal: AbortSignal,
): Promise<void> {
  const { clock, logger } = parts.context;
  const until = clock.elapsed() + PATIENCE_MS;
  for (;;) {
    try {
      await stage(parts, request, signal);
      return;
    } catch (error) {
      if (!isPackhouseError(error, 'DATABASE_UNAVAILABLE') || clock.elapsed() >= until) throw error;
      logger.warn({ network: parts.network, err: error }, 'Postgres is away; what was fetched waits for it');
      await clock.sleep(RETRY_MS, signal);
    }
  }
}

/** Whether the block that does not fit is contradicted by one that is published, or staged and final. */
function isFinal(conflict: PackhouseError, finalized: number): boolean {
  const { by, published } = conflict.data;
  return published === true || (typeof by === 'number' && by <= finalized);
}

/** Throws the conflict if some upstream has the final block, else the alarm. */
async function checkFinal(parts: ChainParts, conflict: PackhouseError, signal: AbortSignal): Promise<never> {
  const { expected, number } = conflict.data;
  try {
    await parts.source.head(signal, { number: Number(number), hash: String(expected) });
  } catch (error) {
    if (isBelowFinality(error) && !(await isAccepted(parts, error))) {
      await raiseFinalityAlarm(parts, error);
      throw error;
    }
  }
  throw conflict;
}
