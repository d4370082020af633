import type { Connections, Session } from '../connection/connections.js';
import { partitionNames, type Segment, segmentLock } from './segments.js';
import { type PartitionRow, selectPartitions } from './select-partitions.js';
import { tryLockSegment } from './try-lock-segment.js';
import { unlockSegment } from './unlock-segment.js';

/** How long a drop waits for those who read the partition; it is tried again at the next reclaim. */
const LOCK_TIMEOUT = '2s';
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Drops a segment's partitions, whatever state an earlier drop left them in, under the segment's lock.
 *
 * False where somebody works in the segment, `condition` (asked under the lock) says no, or a reader is in the
 * way. Plain DROP was rejected: it locks the parent exclusively, and everybody who looks for a block waits behind
 * the longest running COPY; DETACH CONCURRENTLY only waits itself.
 */
export async function dropSegment(
  connections: Connections,
  segment: Segment,
  condition: (session: Session) => Promise<boolean>,
): Promise<boolean> {
  const keys = segmentLock(segment);
  return connections.session(async (session) => {
    const [lock] = await session.query<{ locked: boolean }>(tryLockSegment, keys);
    if (lock?.locked !== true) return false;
    try {
      return (await condition(session)) && (await detachAndDrop(session, segment));
    } finally {
      await session.query(unlockSegment, keys);
    }
  });
}

async function detachAndDrop(session: Session, segment: Segment): Promise<boolean> {
  const { client } = session;
  const { blocks, fragments } = partitionNames(segment);
  await client.query(`SET lock_timeout = '${LOCK_TIMEOUT}'`);
  try {
    // Fragments first: blocks without fragments are as good as reclaimed, fragments without blocks are not.
    for (const [parent, partition] of [
      ['fragment', fragments],
      ['staged_block', blocks],
    ]) {
      const [row] = await session.query<PartitionRow>(selectPartitions, [[partition]]);
      if (row === undefined) continue;
      if (row.state !== 'detached') {
        const how = row.state === 'detaching' ? 'FINALIZE' : 'CONCURRENTLY';
        await client.query(`ALTER TABLE packhouse.${parent} DETACH PARTITION packhouse.${partition} ${how}`);
      }
      await client.query(`DROP TABLE packhouse.${partition}`);
    }
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  } finally {
    await client.query('RESET lock_timeout');
  }
}
