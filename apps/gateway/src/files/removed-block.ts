import type { Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import { Problem } from '../http/problem.js';

/** The refusal for a block that a reorganisation removed within the last 24 hours; null where none did. */
export async function removedBlock(
  database: Database,
  network: string,
  kind: Kind,
  block: number,
): Promise<Problem | null> {
  const abandoned = await database.staging.abandonedAt(network, block);
  if (abandoned === null) return null;
  return new Problem('reorganised', {
    detail: `Block ${block} with hash ${abandoned.hash} was removed by a reorganisation of the chain; ask for the pointer of block ${block} again.`,
    members: { kind, block, hash: abandoned.hash, abandonedAt: abandoned.at.toISOString() },
  });
}
