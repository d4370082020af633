import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import { kindsMask, kindsOf } from '../connection/codes.js';
import { type Connections, type Session, statement } from '../connection/connections.js';
import type { Database, NetworkDatabase, QuarantinePage } from '../contract/database.js';
import type { QuarantineRow, QuarantineTry } from '../contract/rows.js';
import type { NetworkRef } from './networks.js';

const COLUMNS =
  'block, blocks, kinds, cause, message, upstream, payload_digest, attempts, first_seen, next_try, tried, next_try <= now() AS due';

/** $1 network or null for all, $2 cause or null for all, $3 network and $4 block to begin after or null, $5 limit. */
const selectQuarantine = statement(
  'quarantine/select-quarantine',
  `SELECT n.name AS network, q.block, q.blocks, q.kinds, q.cause, q.message, q.upstream, q.payload_digest,
     q.attempts, q.first_seen, q.next_try, q.tried, q.next_try <= now() AS due
   FROM packhouse.quarantine AS q JOIN packhouse.network AS n ON n.id = q.network_id
   WHERE ($1::text IS NULL OR n.name = $1::text) AND ($2::text IS NULL OR q.cause = $2::text)
     AND ($3::text IS NULL OR (n.name, q.block) > ($3::text, $4::int8))
   ORDER BY n.name, q.block
   LIMIT $5::int8`,
);

/** $1 network id, $2 start, $3 end: the rows that touch start..end, ascending. */
const selectOverlapping = statement(
  'quarantine/select-overlapping',
  `SELECT ${COLUMNS}
   FROM packhouse.quarantine
   WHERE network_id = $1 AND int8range(block, block + blocks) && int8range($2::int8, $3::int8, '[]')
   ORDER BY block`,
);

/**
 * $1 network id, $2 newest final block, $3 limit: due rows that are still wanted, longest wait first. Rows
 * that are no longer wanted would fill the limit for ever.
 */
const selectDue = statement(
  'quarantine/select-due',
  `SELECT ${COLUMNS}
   FROM packhouse.quarantine AS q
   WHERE network_id = $1 AND next_try <= now() AND block <= $2 AND EXISTS (
     SELECT FROM generate_series(0, 15) AS k (kind), LATERAL (
       SELECT end_block FROM packhouse.wanted_run
       WHERE network_id = q.network_id AND kind = k.kind AND state = 'active' AND start_block < q.block + q.blocks
       ORDER BY start_block DESC LIMIT 1
     ) AS w
     WHERE (q.kinds >> k.kind) & 1 = 1 AND w.end_block >= q.block
   )
   ORDER BY next_try
   LIMIT $3`,
);

/** $1 network id: rows and blocks of each cause. */
const selectCauses = statement(
  'quarantine/select-causes',
  `SELECT cause, count(*) AS entries, sum(blocks)::int8 AS blocks
   FROM packhouse.quarantine WHERE network_id = $1 GROUP BY cause ORDER BY cause`,
);

/** The same of all networks. */
const selectAllCauses = statement(
  'quarantine/select-all-causes',
  `SELECT n.name AS network, q.cause, count(*) AS entries, sum(q.blocks)::int8 AS blocks
   FROM packhouse.quarantine AS q JOIN packhouse.network AS n ON n.id = q.network_id
   GROUP BY n.name, q.cause ORDER BY n.name, q.cause`,
);

/** $1 network id, $2 start, $3 end, $4 cause or null: makes these rows due now. Returns the blocks of each row within the range. */
const updateNextTry = statement(
  'quarantine/update-next-try',
  `UPDATE packhouse.quarantine SET next_try = least(next_try, now())
   WHERE network_id = $1 AND int8range(block, block + blocks) && int8range($2::int8, $3::int8, '[]')
     AND ($4::text IS NULL OR cause = $4)
   RETURNING least(block + blocks - 1, $3::int8) - greatest(block, $2::int8) + 1 AS blocks`,
);

/** $1 network id: locks the network's quarantine until the end of the transaction. */
const lockQuarantine = statement(
  'quarantine/lock-quarantine',
  // 'PI' in the upper half, beside the keys of staging.
  'SELECT pg_advisory_xact_lock(1346961408, $1::int4)',
);

/**
 * $1 network id, $2 block, $3 blocks, $4 kinds (mask), $5 cause, $6 message, $7 upstream, $8 payload digest,
 * $9 attempts, $10 first seen or null (now), $11 next try or null, $12 tried (JSON), $13 longest wait in minutes.
 *
 * The default next try is 1, 2, 4, … minutes away, at most a day (2^11 minutes is beyond that), plus up to a tenth, so
 * that blocks that failed together are not retried together.
 */
const insertQuarantine = statement(
  'quarantine/insert-quarantine',
  `INSERT INTO packhouse.quarantine
     (network_id, block, blocks, kinds, cause, message, upstream, payload_digest, attempts, first_seen, next_try,
      tried)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, coalesce($10, now()),
     coalesce($11, now() + (1 + random() / 10) *
       least(interval '1 minute' * $13::int4, interval '1 minute' * 2 ^ least($9::int4 - 1, 11))), $12)
   RETURNING ${COLUMNS}`,
);

/** $1 network id, $2 first blocks of the rows (int8[]). */
const deleteQuarantine = statement(
  'quarantine/delete-quarantine',
  'DELETE FROM packhouse.quarantine WHERE network_id = $1 AND block = ANY($2::int8[])',
);

/** Blocks that could not be fetched or failed a check, and when they are tried again. */
export function createQuarantine(
  connections: Connections,
  network: NetworkRef,
): NetworkDatabase['quarantine'] {
  return {
    put: async (row) => put(connections, { network: network.name, networkId: await network.get() }, row),
    settle: async (range, kinds) =>
      settle(connections, { network: network.name, networkId: await network.find() }, range, kinds),
    retry: async ({ start, end }, cause) => {
      const values = [await network.find(), start, lastBlock(end), cause ?? null];
      const rows = await connections.query<{ blocks: number }>(updateNextTry, values);
      return rows.reduce((sum, row) => sum + row.blocks, 0);
    },
    list: (page) => listQuarantine(connections, network.name, page),
    within: async ({ start, end }) => {
      const values = [await network.find(), start, lastBlock(end)];
      const rows = await connections.query<StoredQuarantine>(selectOverlapping, values);
      return rows.map((row) => quarantineOf(network.name, row));
    },
    due: async ({ finalized, limit }) => {
      const values = [await network.find(), finalized, limit];
      const rows = await connections.query<StoredQuarantine>(selectDue, values);
      return rows.map((row) => quarantineOf(network.name, row));
    },
    causes: async () => connections.query(selectCauses, [await network.find()]),
  };
}

/** The quarantine of all networks. */
export function createAllQuarantine(connections: Connections): Database['quarantine'] {
  return {
    list: (page) => listQuarantine(connections, null, page),
    causes: () => connections.query(selectAllCauses, []),
  };
}

/** Rows of one network, or of all. */
async function listQuarantine(
  connections: Connections,
  network: string | null,
  { cause, after, limit }: QuarantinePage = {},
): Promise<QuarantineRow[]> {
  const rows = await connections.query<StoredQuarantine & { network: string }>(selectQuarantine, [
    network,
    cause ?? null,
    after?.network ?? null,
    after?.number ?? null,
    limit ?? null,
  ]);
  return rows.map((row) => quarantineOf(row.network, row));
}

/** Limits the end of a range to the highest number that Postgres can add one to. */
function lastBlock(end: number): number {
  return Math.min(end, Number.MAX_SAFE_INTEGER - 1);
}

/** One network's quarantine. */
interface Place {
  network: string;
  networkId: number;
}

/**
 * Adds or updates a row (see NetworkDatabase.quarantine.put).
 *
 * Rows within the new one are merged into it; rows that reach beyond it keep the remainder. Adjacent rows that fail
 * alike become one: a part of the chain that no upstream has is one row, however many jobs asked for it.
 */
function put(
  connections: Connections,
  place: Place,
  request: Parameters<NetworkDatabase['quarantine']['put']>[0],
): Promise<QuarantineRow> {
  const { number: start, kinds } = request;
  const end = request.end ?? start;
  return changing(connections, place, async (session, overlapping) => {
    const around = await overlapping({ start: Math.max(0, start - 1), end: end + 1 });
    const taken = around.filter((row) => row.number <= end && row.end >= start);
    // Rows that are not due yet failed in this same round: that is one try, not two.
    const attempts = Math.max(1, ...taken.map((row) => row.attempts + (row.due ? 1 : 0)));
    const firstSeen = taken.reduce<Date | null>(
      (first, row) => (first === null || row.firstSeen < first ? row.firstSeen : first),
      null,
    );
    const fresh: NewQuarantine = {
      number: start,
      end,
      kinds: inOrder([...kinds, ...taken.flatMap((row) => row.kinds)]),
      cause: request.cause,
      message: request.message,
      upstream: request.upstream,
      payloadDigest: request.payloadDigest,
      tried: request.tried ?? [],
      attempts,
      firstSeen,
      nextTry: null,
      longestWait: request.probed === true ? PROBED_MINUTES : DAY_MINUTES,
    };
    const rests = taken.flatMap((row) => outside(row, { start, end }));
    const besides = [...around.filter((row) => !taken.includes(row)), ...rests];
    const joined = besides.filter(
      (row) =>
        (row.end === start - 1 || row.number === end + 1) &&
        !row.due &&
        failAlike(row, fresh) &&
        (request.probed === true || row.attempts === attempts),
    );
    for (const row of joined) {
      fresh.number = Math.min(fresh.number, row.number);
      fresh.end = Math.max(fresh.end, row.end);
      fresh.firstSeen = row.firstSeen;
      if (request.probed !== true || row.attempts < fresh.attempts) continue;
      fresh.attempts = row.attempts;
      // A block more must not put off the probe.
      if (taken.length === 0) fresh.nextTry = row.nextTry;
    }
    await remove(session, place, [...taken, ...joined]);
    for (const rest of rests) if (!joined.includes(rest)) await insert(session, place, rest);
    return insert(session, place, fresh);
  });
}

/** Removes kinds of a range from the quarantine (see NetworkDatabase.quarantine.settle). */
async function settle(
  connections: Connections,
  place: Place,
  range: BlockRange,
  kinds: readonly Kind[],
): Promise<void> {
  await changing(connections, place, async (session, overlapping) => {
    const rows = (await overlapping(range)).filter((row) => row.kinds.some((kind) => kinds.includes(kind)));
    await remove(session, place, rows);
    for (const row of rows) {
      for (const rest of outside(row, range)) await insert(session, place, rest);
      const left = row.kinds.filter((kind) => !kinds.includes(kind));
      if (left.length === 0) continue;
      await insert(session, place, {
        ...row,
        kinds: left,
        number: Math.max(row.number, range.start),
        end: Math.min(row.end, range.end),
      });
    }
  });
}

/** Runs one change at a time: rows are split and joined, and concurrent changes would leave overlapping rows. */
function changing<T>(
  connections: Connections,
  { network, networkId }: Place,
  change: (session: Session, overlapping: (range: BlockRange) => Promise<QuarantineRow[]>) => Promise<T>,
): Promise<T> {
  return connections.transaction(async (session) => {
    await session.query(lockQuarantine, [networkId]);
    return change(session, async ({ start, end }) => {
      const rows = await session.query<StoredQuarantine>(selectOverlapping, [networkId, start, end]);
      return rows.map((row) => quarantineOf(network, row));
    });
  });
}

async function remove(session: Session, { networkId }: Place, rows: readonly QuarantineRow[]): Promise<void> {
  if (rows.length > 0) await session.query(deleteQuarantine, [networkId, rows.map((row) => row.number)]);
}

/** A row to write; new if it has no times. */
type NewQuarantine = Omit<QuarantineRow, 'network' | 'firstSeen' | 'nextTry' | 'due'> & {
  firstSeen: Date | null;
  nextTry: Date | null;
  /** In minutes; default a day. */
  longestWait?: number;
};

const DAY_MINUTES = 1_440;
/** The longest wait between two probes of a cause. */
const PROBED_MINUTES = 10;

/** Writes one row and returns it. */
async function insert(session: Session, place: Place, row: NewQuarantine): Promise<QuarantineRow> {
  const digest = row.payloadDigest === null ? null : Buffer.from(row.payloadDigest, 'hex');
  const [written] = await session.query<StoredQuarantine>(insertQuarantine, [
    place.networkId,
    row.number,
    row.end - row.number + 1,
    kindsMask(row.kinds),
    row.cause,
    row.message,
    row.upstream,
    digest,
    row.attempts,
    row.firstSeen,
    row.nextTry,
    JSON.stringify(row.tried),
    row.longestWait ?? DAY_MINUTES,
  ]);
  return quarantineOf(place.network, written as StoredQuarantine);
}

/** The parts of a row before and after a range. */
function outside<R extends QuarantineRow>(row: R, { start, end }: BlockRange): R[] {
  return [
    ...(row.number < start ? [{ ...row, end: start - 1 }] : []),
    ...(row.end > end ? [{ ...row, number: end + 1 }] : []),
  ];
}

function failAlike(row: QuarantineRow, fresh: NewQuarantine): boolean {
  return row.cause === fresh.cause && row.kinds.join() === fresh.kinds.join();
}

function inOrder(kinds: readonly Kind[]): Kind[] {
  return KINDS.filter((kind) => kinds.includes(kind));
}

interface StoredQuarantine {
  block: number;
  blocks: number;
  kinds: number;
  cause: string;
  message: string;
  upstream: string | null;
  payload_digest: Buffer | null;
  attempts: number;
  first_seen: Date;
  next_try: Date;
  due: boolean;
  tried: QuarantineTry[];
}

function quarantineOf(network: string, row: StoredQuarantine): QuarantineRow {
  return {
    network,
    number: row.block,
    end: row.block + row.blocks - 1,
    kinds: kindsOf(row.kinds),
    cause: row.cause,
    message: row.message,
    upstream: row.upstream,
    payloadDigest: row.payload_digest === null ? null : row.payload_digest.toString('hex'),
    attempts: row.attempts,
    firstSeen: row.first_seen,
    nextTry: row.next_try,
    due: row.due,
    tried: row.tried,
  };
}
