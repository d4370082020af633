import { PackhouseError } from '@packhouse/runtime';
import type { Connections } from '../connection/connections.js';
import { deleteBlocks } from './delete-blocks.js';
import { deleteFragments } from './delete-fragments.js';
import { deleteOldAbandoned } from './delete-old-abandoned.js';
import { insertAbandoned } from './insert-abandoned.js';
import { lockNetwork } from './lock-network.js';
import { networkLock, segmentStart } from './segments.js';
import { selectPublishedEnd } from './select-published-end.js';

/**
 * Drops what is staged from `start` up (see Database.staging.abandon), while nobody stages in the network.
 *
 * Throws STAGE_CONFLICT where a bundle holds `start` or a later block: what is published is final.
 */
export async function abandon(
  connections: Connections,
  options: { network: string; networkId: number; start: number },
): Promise<{ abandoned: number }> {
  const { network, networkId, start } = options;
  return connections.transaction(async (session) => {
    await session.query(lockNetwork, networkLock(networkId));
    const [published] = await session.query<{ block: number | null }>(selectPublishedEnd, [networkId]);
    if (published?.block != null && published.block >= start) {
      throw new PackhouseError({
        code: 'STAGE_CONFLICT',
        message: `Blocks of ${network} from ${start} up cannot be abandoned: they are published up to ${published.block}.`,
        hint: 'The finality depth of this network is too small, or the node follows another chain.',
        data: {
          network,
          number: start,
          expected: 'an unpublished block',
          got: `published up to ${published.block}`,
        },
      });
    }
    await session.query(insertAbandoned, [networkId, start]);
    await session.query(deleteFragments, [networkId, start, segmentStart(start)]);
    const gone = await session.query(deleteBlocks, [networkId, start]);
    await session.query(deleteOldAbandoned, []);
    return { abandoned: gone.length };
  });
}
