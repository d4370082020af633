import { PackhouseError } from '@packhouse/runtime';
import { type Connections, statement } from '../connection/connections.js';
import { type Fence, fenceValues, requireLease } from '../connection/leases.js';
import { deleteOldAbandoned } from './reclaim.js';
import { networkLock, segmentStart } from './segments.js';

/** $1, $2 keys: waits for running stage transactions of the network and blocks new ones until this one ends. */
const lockNetwork = statement('staging/lock-network', 'SELECT pg_advisory_xact_lock($1, $2)');

/** $1 network id: the highest published block of any kind, or null. */
const selectPublishedEnd = statement(
  'staging/select-published-end',
  `SELECT max(r.last_block) AS block FROM generate_series(0, 7) AS k (kind), LATERAL (
     SELECT last_block FROM packhouse.published_run
     WHERE network_id = $1 AND kind = k.kind ORDER BY first_block DESC LIMIT 1
   ) AS r`,
);

/** $1 network id, $2 first block: stores the hashes of the blocks to be deleted. */
const insertAbandoned = statement(
  'staging/insert-abandoned',
  `INSERT INTO packhouse.abandoned_block (network_id, block, hash, parent_hash)
   SELECT network_id, block, hash, parent_hash FROM packhouse.staged_block WHERE network_id = $1 AND block >= $2
   ON CONFLICT (network_id, block, hash) DO UPDATE SET abandoned_at = excluded.abandoned_at`,
);

/** $1 network id, $2 first block, $3 first block of its segment: deletes all fragments with the first block or a later block. */
const deleteFragments = statement(
  'staging/delete-fragments',
  'DELETE FROM packhouse.fragment WHERE network_id = $1 AND first_block >= $3 AND last_block >= $2',
);

/** $1 network id, $2 first block. Returns a row for each block. */
const deleteBlocks = statement(
  'staging/delete-blocks',
  'DELETE FROM packhouse.staged_block WHERE network_id = $1 AND block >= $2 RETURNING block',
);

/**
 * Drops staged data from the first block up (a reorganisation) and stores the hashes as abandoned, in one transaction under the
 * network's exclusive lock.
 *
 * Throws STAGE_CONFLICT if a bundle holds the first block or a later block, as published blocks are final; LEASE_LOST.
 */
export async function abandon(
  connections: Connections,
  options: { network: string; networkId: number; start: number; fence: Fence | undefined },
): Promise<{ abandoned: number }> {
  const { network, networkId, start, fence } = options;
  return connections.transaction(async (session) => {
    await session.query(lockNetwork, networkLock(networkId));
    const published = await session.queryOne<{ block: number | null }>(selectPublishedEnd, [networkId]);
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
    if (fence !== undefined) await session.query(requireLease, fenceValues(fence));
    return { abandoned: gone.length };
  });
}
