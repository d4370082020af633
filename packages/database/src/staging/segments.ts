import { type Connections, type Session, statement } from '../connection/connections.js';

/**
 * Staging is cut into segments of this many blocks, aligned at multiples of it: a segment is a partition of
 * the staging tables and is dropped whole. No job, fragment or stage request crosses a segment's border.
 */
export const SEGMENT_BLOCKS = 1_024;

/** $1 names (text[]). Tables that do not exist have no row. */
const selectPartitions = statement(
  'staging/select-partitions',
  `SELECT c.relname AS name,
     CASE WHEN i.inhrelid IS NULL THEN 'detached' WHEN i.inhdetachpending THEN 'detaching' ELSE 'attached' END
       AS state
   FROM pg_class AS c LEFT JOIN pg_inherits AS i ON i.inhrelid = c.oid
   WHERE c.relnamespace = to_regnamespace('packhouse') AND c.relkind = 'r' AND c.relname = ANY($1::name[])`,
);

/** $1, $2 keys. Until the end of the transaction. */
const lockSegment = statement('staging/lock-segment', 'SELECT pg_advisory_xact_lock($1, $2)');

/** $1, $2 keys. A session lock, as DETACH CONCURRENTLY does not run inside a transaction. */
const tryLockSegment = statement('staging/try-lock-segment', 'SELECT pg_try_advisory_lock($1, $2) AS locked');

/** $1, $2 keys. */
const unlockSegment = statement('staging/unlock-segment', 'SELECT pg_advisory_unlock($1, $2)');

/** First keys of the advisory locks; the second key is the segment's number, the network's id. */
const SEGMENT_LOCKS = 0x50_48_00_00;
const NETWORK_LOCKS = 0x50_47_00_00;

/** One segment of one network: a partition of each staging table. */
export interface Segment {
  networkId: number;
  /** Start block divided by SEGMENT_BLOCKS. */
  number: number;
}

/** The segment that holds a block. */
export function getSegment(networkId: number, block: number): Segment {
  return { networkId, number: Math.floor(block / SEGMENT_BLOCKS) };
}

/** First block of the segment that holds `block`. */
export function segmentStart(block: number): number {
  return block - (block % SEGMENT_BLOCKS);
}

/** The two keys of a segment's lock. */
export function segmentLock(segment: Segment): [number, number] {
  return [SEGMENT_LOCKS + segment.networkId, segment.number];
}

/** The two keys of a network's lock: shared for staging, exclusive for a reorganisation. */
export function networkLock(networkId: number): [number, number] {
  return [NETWORK_LOCKS, networkId];
}

/** The names of a segment's partitions, without their schema. */
export function partitionNames({ networkId, number }: Segment): { blocks: string; fragments: string } {
  const suffix = `${networkId}_${number}`;
  return { blocks: `staged_block_${suffix}`, fragments: `fragment_${suffix}` };
}

/** A table that is, or was, a staging partition. */
interface PartitionRow {
  name: string;
  /** `detaching`: a DETACH CONCURRENTLY did not finish; queries no longer see its rows. */
  state: 'attached' | 'detaching' | 'detached';
}

/** Reads which partitions of a segment exist: both, none, or the remains of an interrupted drop. */
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
 * Creates a segment's partitions if they do not exist, in a short separate transaction.
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
  // Checked again under the lock: another session may have dropped, created and filled it since.
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
    // Rows are written once and the table is dropped whole, so there is nothing to vacuum.
    await client.query(
      `CREATE TABLE packhouse.${partition} (LIKE packhouse.${parent} INCLUDING ALL)
       WITH (autovacuum_enabled = off, toast.autovacuum_enabled = off)`,
    );
    await client.query(
      `ALTER TABLE packhouse.${parent} ATTACH PARTITION packhouse.${partition} FOR VALUES ${bounds}`,
    );
  }
}

/** How long a drop waits for readers of the partition; it is tried again at the next reclaim. */
const LOCK_TIMEOUT = '2s';
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Drops a segment's partitions, whatever state an earlier drop left them in, under the segment's lock.
 *
 * Returns false if another session works in the segment, `condition` (evaluated under the lock) is false, or a reader
 * holds it too long. Rejected: plain DROP locks the parent exclusively, so that every look-up of a block waits for the
 * longest running COPY. With DETACH CONCURRENTLY only this call waits.
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
    // Fragments first: blocks without fragments count as reclaimed, fragments without blocks do not.
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
