import type { BlockRange, Kind } from '@packhouse/chain';
import { getKinds, kindsMask } from '../../connection/codes.js';
import { type Connections, type Session, statement } from '../../connection/connections.js';

/** The result of asking one upstream for a quarantined block. */
export interface QuarantineTry {
  upstream: string;
  /** Error code of the catalogue. */
  cause: string;
  message: string;
  /** Hex SHA-256 of the answer that failed a check. */
  payloadDigest: string | null;
  /** The field that failed a proof, with the value that the block header demands and the one of the answer. */
  differs?: { field: string; expected: string; got: string } | undefined;
}

/** One block that could not be fetched or failed a check, or several in a row that fail alike. */
export interface QuarantineRow extends BlockRange {
  network: string;
  /** The kinds that fail; other kinds of the block are staged and published. */
  kinds: readonly Kind[];
  /** Error code of the catalogue. */
  cause: string;
  message: string;
  upstream: string | null;
  /** Hex SHA-256 of the answer that failed, if there was one. */
  payloadDigest: string | null;
  attempts: number;
  firstSeen: Date;
  nextTry: Date;
  /** Whether `nextTry` had come when the row was read, by the clock of Postgres. */
  due: boolean;
  /** Results of the last try, in the order the upstreams were asked; of several blocks, those of the first. */
  tried: readonly QuarantineTry[];
}

/** The columns of a StoredQuarantine, from quarantine q. */
export const COLUMNS = `q.first_block AS "firstBlock", q.last_block AS "lastBlock", q.kinds, q.cause, q.message, q.upstream,
     encode(q.payload_digest, 'hex') AS "payloadDigest", q.attempts, q.first_seen AS "firstSeen",
     q.next_try AS "nextTry", q.tried, q.next_try <= now() AS due`;

/** $1 network id, $2 first block, $3 last block: the rows that touch that range, ascending. */
export const selectOverlapping = statement(
  'quarantine/select-overlapping',
  `SELECT ${COLUMNS}
   FROM packhouse.quarantine AS q
   WHERE network_id = $1 AND int8range(first_block, last_block, '[]') && int8range($2::int8, $3::int8, '[]')
   ORDER BY first_block`,
);

/** $1 network id: locks the network's quarantine until the end of the transaction. */
const lockQuarantine = statement(
  'quarantine/lock-quarantine',
  // 'PI' in the upper half, beside the keys of staging.
  'SELECT pg_advisory_xact_lock(1346961408, $1::int4)',
);

/**
 * $1 network id, $2 first block, $3 last block, $4 kinds (mask), $5 cause, $6 message, $7 upstream, $8 payload digest,
 * $9 attempts, $10 first seen or null (now), $11 next try or null, $12 tried (JSON), $13 longest wait in minutes.
 *
 * The default next try is 1, 2, 4, … minutes away, at most a day (2^11 minutes is beyond that), plus up to a tenth, so
 * that blocks that failed together are not retried together.
 */
const insertQuarantine = statement(
  'quarantine/insert-quarantine',
  `INSERT INTO packhouse.quarantine AS q
     (network_id, first_block, last_block, kinds, cause, message, upstream, payload_digest, attempts, first_seen, next_try,
      tried)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, coalesce($10, now()),
     coalesce($11, now() + (1 + random() / 10) *
       least(interval '1 minute' * $13::int4, interval '1 minute' * 2 ^ least($9::int4 - 1, 11))), $12)
   RETURNING ${COLUMNS}`,
);

/** $1 network id, $2 first blocks of the rows (int8[]). */
const deleteQuarantine = statement(
  'quarantine/delete-quarantine',
  'DELETE FROM packhouse.quarantine WHERE network_id = $1 AND first_block = ANY($2::int8[])',
);

/** One network's quarantine. */
export interface Place {
  network: string;
  networkId: number;
}

/** Runs one change at a time: rows are split and joined, and concurrent changes would leave overlapping rows. */
export function changing<T>(
  connections: Connections,
  { network, networkId }: Place,
  change: (session: Session, overlapping: (range: BlockRange) => Promise<QuarantineRow[]>) => Promise<T>,
): Promise<T> {
  return connections.transaction(async (session) => {
    await session.query(lockQuarantine, [networkId]);
    return change(session, async ({ firstBlock, lastBlock }) => {
      const values = [networkId, firstBlock, lastBlock];
      const rows = await session.query<StoredQuarantine>(selectOverlapping, values);
      return rows.map((row) => toQuarantine(network, row));
    });
  });
}

export async function remove(
  session: Session,
  { networkId }: Place,
  rows: readonly QuarantineRow[],
): Promise<void> {
  if (rows.length > 0) await session.query(deleteQuarantine, [networkId, rows.map((row) => row.firstBlock)]);
}

/** A row to write; new if it has no times. */
export type NewQuarantine = Omit<QuarantineRow, 'network' | 'firstSeen' | 'nextTry' | 'due'> & {
  firstSeen: Date | null;
  nextTry: Date | null;
  /** In minutes; default a day. */
  longestWait?: number;
};

export const DAY_MINUTES = 1_440;
/** The longest wait between two probes of a cause. */
export const PROBED_MINUTES = 10;

/** Writes one row and returns it. */
export async function insert(session: Session, place: Place, row: NewQuarantine): Promise<QuarantineRow> {
  const written = await session.queryOne<StoredQuarantine>(insertQuarantine, [
    place.networkId,
    row.firstBlock,
    row.lastBlock,
    kindsMask(row.kinds),
    row.cause,
    row.message,
    row.upstream,
    row.payloadDigest && Buffer.from(row.payloadDigest, 'hex'),
    row.attempts,
    row.firstSeen,
    row.nextTry,
    JSON.stringify(row.tried),
    row.longestWait ?? DAY_MINUTES,
  ]);
  return toQuarantine(place.network, written!);
}

export type StoredQuarantine = Omit<QuarantineRow, 'network' | 'kinds'> & { kinds: number };

export function toQuarantine(network: string, row: StoredQuarantine): QuarantineRow {
  return { network, ...row, kinds: getKinds(row.kinds) };
}
