import type { Database, StageRequest } from '@packhouse/database';
import type { BlockSource } from '@packhouse/node-rpc';
import { type Context, isPackhouseError } from '@packhouse/runtime';
import { dropAbandoned } from './reorganise.js';

export interface StageParts {
  context: Context;
  database: Database;
  source: BlockSource;
  network: string;
}

/**
 * Stages one run of proved blocks in one transaction.
 *
 * Where its hashes do not fit what was staged before, the chain is asked which is right: staged blocks that it has
 * abandoned are dropped and the run is staged again, once. Throws STAGE_CONFLICT where the run itself is wrong.
 */
export async function stage(parts: StageParts, request: StageRequest, signal: AbortSignal): Promise<void> {
  try {
    await parts.database.staging.stage(request);
  } catch (error) {
    if (!isPackhouseError(error, 'STAGE_CONFLICT')) throw error;
    parts.context.logger.warn({ err: error, network: parts.network }, 'staged blocks disagree');
    const first = request.blocks[0]?.number ?? 0;
    const last = request.blocks.at(-1)?.number ?? first;
    const { abandoned } = await dropAbandoned(
      parts,
      { start: Math.max(0, first - 1), end: last + 1 },
      signal,
    );
    if (abandoned === 0) throw error;
    await parts.database.staging.stage(request);
  }
}
