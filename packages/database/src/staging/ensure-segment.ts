import type { Connections, Session } from '../connection/connections.js';
import { SEGMENT_BLOCKS } from '../database.js';
import { dropSegment } from './drop-segment.js';
import { lockSegment } from './lock-segment.js';
import { partitionNames, type Segment, segmentLock } from './segments.js';
import { type PartitionRow, selectPartitions } from './select-partitions.js';

/** What is there of a segment: both partitions, nothing, or the remains of a drop that was cut short. */
export async function segmentState(
  session: Session,
  segment: Segment,
): Promise<'ready' | 'absent' | 'remains'> {
  const { blocks, fragments } = partitionNames(segment);
  const rows = await session.query<PartitionRow>(selectPartitions, [[blocks, fragments]]);
  if (rows.length === 0) return 'absent';
  return rows.length === 2 && rows.every((row) => row.state === 'attached') ? 'ready' : 'remains';
}

/**
 * Makes a segment's partitions unless they are there, in a short transaction of its own.
 *
 * ATTACH locks the parent table against other DDL only, not against readers or writers; the tables are empty, so
 * nothing is scanned.
 */
export async function ensureSegment(connections: Connections, segment: Segment): Promise<void> {
  const state = await connections.transaction(async (session) => {
    await session.query(lockSegment, segmentLock(segment));
    const found = await segmentState(session, segment);
    if (found === 'absent') await createPartitions(session, segment);
    return found;
  });
  if (state !== 'remains') return;
  // Asked again under the lock: somebody may have cleared, made and filled it since.
  await dropSegment(
    connections,
    segment,
    async (session) => (await segmentState(session, segment)) === 'remains',
  );
}

async function createPartitions({ client }: Session, segment: Segment): Promise<void> {
  const { blocks, fragments } = partitionNames(segment);
  const start = segment.number * SEGMENT_BLOCKS;
  const bounds = `FROM (${segment.networkId}, ${start}) TO (${segment.networkId}, ${start + SEGMENT_BLOCKS})`;
  for (const [parent, partition] of [
    ['staged_block', blocks],
    ['fragment', fragments],
  ]) {
    // Rows are written once and the table is dropped whole: there is nothing to vacuum.
    await client.query(
      `CREATE TABLE packhouse.${partition} (LIKE packhouse.${parent} INCLUDING ALL)
       WITH (autovacuum_enabled = off, toast.autovacuum_enabled = off)`,
    );
    await client.query(
      `ALTER TABLE packhouse.${parent} ATTACH PARTITION packhouse.${partition} FOR VALUES ${bounds}`,
    );
  }
}
