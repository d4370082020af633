import type { Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import { Problem } from '../http/problem.js';

/** The refusal for a block that a reorganisation removed within the last 400 days; null if none did. */
export async function findRemovedBlock(
  database: Database,
  network: string,
  kind: Kind,
  block: number,
): Promise<Problem | null> {
  const abandoned = await database.network(network).staging.abandonedAt(block);
  if (abandoned === null) return null;
  return new Problem('reorganised', {
    detail: `Block ${block} with hash ${abandoned.hash} was removed by a reorganisation; request the pointer of block ${block} again.`,
    members: { kind, block, hash: abandoned.hash, abandonedAt: abandoned.at.toISOString() },
  });
}
