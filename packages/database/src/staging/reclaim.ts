import type { Connections } from '../connection/connections.js';
import { SEGMENT_BLOCKS } from '../database.js';
import { deleteOldAbandoned } from './delete-old-abandoned.js';
import { dropSegment } from './drop-segment.js';
import { listPartitions } from './list-partitions.js';
import { selectIsCovered } from './select-is-covered.js';

/** Drops the segments of a network of which everything is published (see Database.staging.reclaim). */
export async function reclaim(connections: Connections, networkId: number): Promise<number[]> {
  const partitions = await connections.query<{ segment: number }>(listPartitions, [networkId]);
  const reclaimed: number[] = [];
  for (const number of new Set(partitions.map((partition) => partition.segment))) {
    const start = number * SEGMENT_BLOCKS;
    const dropped = await dropSegment(connections, { networkId, number }, async (session) => {
      const values = [networkId, start, start + SEGMENT_BLOCKS - 1];
      const [row] = await session.query<{ covered: boolean }>(selectIsCovered, values);
      return row?.covered === true;
    });
    if (dropped) reclaimed.push(start);
  }
  await connections.query(deleteOldAbandoned, []);
  return reclaimed;
}
