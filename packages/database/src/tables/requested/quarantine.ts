import { type BlockRange, intersectRanges, KINDS, type Kind, subtractRanges } from '@packhouse/chain';
import { getWeight } from '@packhouse/runtime';
import { type Connections, statement } from '../../connection/connections.js';
import type { NetworkRef } from '../networks/networks.js';
import {
  COLUMNS,
  changing,
  DAY_MINUTES,
  insert,
  type NewQuarantine,
  type Place,
  PROBED_MINUTES,
  type QuarantineRow,
  type QuarantineTry,
  remove,
  type StoredQuarantine,
  selectOverlapping,
  toQuarantine,
} from './quarantine-rows.js';

/** A part of a list of quarantined blocks. */
type QuarantinePage = {
  /** Error code. */
  cause?: string | undefined;
  /** The page begins after this row. */
  after?: { network: string; number: number } | undefined;
  limit?: number | undefined;
};

/** $1 network or null for all, $2 cause or null for all, $3 network and $4 block to begin after or null, $5 limit. */
const selectQuarantine = statement(
  'quarantine/select-quarantine',
  `SELECT n.name AS network, ${COLUMNS}
   FROM packhouse.quarantine AS q JOIN packhouse.network AS n ON n.id = q.network_id
   WHERE ($1::text IS NULL OR n.name = $1::text) AND ($2::text IS NULL OR q.cause = $2::text)
     AND ($3::text IS NULL OR (n.name, q.first_block) > ($3::text, $4::int8))
   ORDER BY n.name, q.first_block
   LIMIT $5::int8`,
);

/**
 * $1 network id, $2 newest final block, $3 limit: due rows that are still requested, longest wait first. Rows
 * that are no longer requested would fill the limit for ever.
 */
const selectDue = statement(
  'quarantine/select-due',
  `SELECT ${COLUMNS}
   FROM packhouse.quarantine AS q
   WHERE network_id = $1 AND next_try <= now() AND first_block <= $2 AND EXISTS (
     SELECT FROM generate_series(0, 15) AS k (kind), LATERAL (
       SELECT last_block FROM packhouse.requested_run
       WHERE network_id = q.network_id AND kind = k.kind AND state = 'active' AND first_block <= q.last_block
       ORDER BY first_block DESC LIMIT 1
     ) AS w
     WHERE (q.kinds >> k.kind) & 1 = 1 AND w.last_block >= q.first_block
   )
   ORDER BY next_try
   LIMIT $3`,
);

/** When the first block of a cause was seen, and when the first of them is tried again. */
const TIMES = 'min(q.first_seen) AS "firstSeen", min(q.next_try) AS "nextTry"';

/** $1 network id: rows and blocks of each cause. */
const selectCauses = statement(
  'quarantine/select-causes',
  `SELECT q.cause, count(*) AS entries, sum(q.last_block - q.first_block + 1)::int8 AS blocks, ${TIMES}
   FROM packhouse.quarantine AS q WHERE q.network_id = $1 GROUP BY q.cause ORDER BY q.cause`,
);

/** The same of all networks. */
const selectAllCauses = statement(
  'quarantine/select-all-causes',
  `SELECT n.name AS network, q.cause, count(*) AS entries, sum(q.last_block - q.first_block + 1)::int8 AS blocks, ${TIMES}
   FROM packhouse.quarantine AS q JOIN packhouse.network AS n ON n.id = q.network_id
   GROUP BY n.name, q.cause ORDER BY n.name, q.cause`,
);

/** $1 network id, $2 first block, $3 last block, $4 causes or null: makes these rows due now. Returns the blocks of each row within the range. */
const updateNextTry = statement(
  'quarantine/update-next-try',
  `UPDATE packhouse.quarantine SET next_try = least(next_try, now())
   WHERE network_id = $1 AND int8range(first_block, last_block, '[]') && int8range($2::int8, $3::int8, '[]')
     AND ($4::text[] IS NULL OR cause = ANY ($4))
   RETURNING least(last_block, $3::int8) - greatest(first_block, $2::int8) + 1 AS blocks`,
);

/** Blocks that could not be fetched or failed a check, and when they are tried again. */
export function createQuarantine(connections: Connections, network: NetworkRef) {
  const read = async (...args: Parameters<Connections['query']>): Promise<QuarantineRow[]> =>
    (await connections.query<StoredQuarantine>(...args)).map((row) => toQuarantine(network.name, row));
  return {
    /**
     * Adds or updates a row: attempts + 1 if its next try was due, nextTry by back-off (1 min doubling to 1 day, plus
     * up to a tenth). Without `lastBlock` it is one block; overlapping rows are merged into the new one, and
     * adjacent rows of the same cause, kinds and attempts. `probed`: the row is a cause, of which one block is tried
     * every few minutes; adjacent rows of it are merged whatever their attempts.
     */
    put: async (row: QuarantineRequest) =>
      put(connections, { network: network.name, networkId: await network.get() }, row),
    /** Removes these kinds from the rows of the range, as they are staged by now. */
    settle: async (range: BlockRange, kinds: readonly Kind[]) =>
      settle(connections, { network: network.name, networkId: await network.find() }, range, kinds),
    /** Makes the rows that touch the range, or those of these causes, due now. Returns the number of blocks of the range in them. */
    async retry({ firstBlock, lastBlock }: BlockRange, causes?: readonly string[]): Promise<number> {
      const values = [await network.find(), firstBlock, capBlock(lastBlock), causes ?? null];
      const rows = await connections.query<{ blocks: number }>(updateNextTry, values);
      return rows.reduce((sum, row) => sum + row.blocks, 0);
    },
    /** By block. */
    list: (page?: QuarantinePage) => listQuarantine(connections, network.name, page),
    /** The rows that touch the range, ascending. */
    within: async ({ firstBlock, lastBlock }: BlockRange) =>
      read(selectOverlapping, [await network.find(), firstBlock, capBlock(lastBlock)]),
    /** Due rows up to block `finalized` that are still requested, oldest first. */
    due: async ({ finalized, limit }: { finalized: number; limit: number }) =>
      read(selectDue, [await network.find(), finalized, limit]),
    /** Rows and blocks by cause. */
    causes: async () => connections.query<CauseCount>(selectCauses, [await network.find()]),
  };
}

/** The quarantine of all networks. */
export function createAllQuarantine(connections: Connections) {
  return {
    /** Rows of all networks, by network and block. */
    list: (page?: QuarantinePage) => listQuarantine(connections, null, page),
    /** Rows and blocks by network and cause. */
    causes: () => connections.query<CauseCount & { network: string }>(selectAllCauses, []),
  };
}

type CauseCount = {
  cause: string;
  entries: number;
  blocks: number;
  /** When the first of them failed first. */
  firstSeen: Date;
  /** When the first of them is tried again. */
  nextTry: Date;
};

type QuarantineRequest = Pick<
  QuarantineRow,
  'firstBlock' | 'kinds' | 'cause' | 'message' | 'upstream' | 'payloadDigest'
> & {
  lastBlock?: number;
  tried?: readonly QuarantineTry[];
  probed?: boolean;
};

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
  return rows.map((row) => toQuarantine(row.network, row));
}

/** Limits the end of a range to the highest number that Postgres can add one to. */
function capBlock(end: number): number {
  return Math.min(end, Number.MAX_SAFE_INTEGER - 1);
}

/**
 * Quarantines a range, of which blocks that were seen to be false keep their finding (`isHeavier`): it is cut at their
 * rows. Returns the first row.
 */
async function put(
  connections: Connections,
  place: Place,
  request: QuarantineRequest,
): Promise<QuarantineRow> {
  const { firstBlock, lastBlock = firstBlock } = request;
  const range = { firstBlock, lastBlock };
  const rows = await changing(connections, place, (_, overlapping) => overlapping(range));
  const findings = rows.filter((row) => isHeavier(row, request));
  const pieces = [...subtractRanges([range], findings), ...intersectRanges([range], findings)];
  pieces.sort((a, b) => a.firstBlock - b.firstBlock);
  let first: QuarantineRow | undefined;
  for (const piece of pieces) {
    const row = await putPiece(connections, place, { ...request, ...piece });
    first ??= row;
  }
  return first as QuarantineRow;
}

/**
 * Rows within the new one are merged into it; rows that reach beyond it keep the remainder. Adjacent rows that fail
 * alike become one: a part of the chain that no upstream has is one row, however many jobs asked for it.
 */
function putPiece(
  connections: Connections,
  place: Place,
  request: QuarantineRequest,
): Promise<QuarantineRow> {
  const { firstBlock, kinds } = request;
  const lastBlock = request.lastBlock ?? firstBlock;
  return changing(connections, place, async (session, overlapping) => {
    const around = await overlapping({ firstBlock: Math.max(0, firstBlock - 1), lastBlock: lastBlock + 1 });
    const taken = around.filter((row) => row.firstBlock <= lastBlock && row.lastBlock >= firstBlock);
    // Rows that are not due yet failed in this same round: that is one try, not two.
    const attempts = Math.max(1, ...taken.map((row) => row.attempts + (row.due ? 1 : 0)));
    const [firstSeen = null] = taken.map((row) => row.firstSeen).sort((a, b) => Number(a) - Number(b));
    const { cause, message, upstream, payloadDigest, tried } = withFinding(request, taken);
    const failing = [...kinds, ...taken.flatMap((row) => row.kinds)];
    const fresh: NewQuarantine = {
      firstBlock,
      lastBlock,
      kinds: KINDS.filter((kind) => failing.includes(kind)),
      cause,
      message,
      upstream,
      payloadDigest,
      tried,
      attempts,
      firstSeen,
      nextTry: null,
      longestWait: request.probed === true ? PROBED_MINUTES : DAY_MINUTES,
    };
    const rests = taken.flatMap((row) => outside(row, { firstBlock, lastBlock }));
    const besides = [...around.filter((row) => !taken.includes(row)), ...rests];
    const joined = besides.filter(
      (row) =>
        (row.lastBlock === firstBlock - 1 || row.firstBlock === lastBlock + 1) &&
        !row.due &&
        row.cause === fresh.cause &&
        row.kinds.join() === fresh.kinds.join() &&
        (request.probed === true || row.attempts === attempts),
    );
    for (const row of joined) {
      fresh.firstBlock = Math.min(fresh.firstBlock, row.firstBlock);
      fresh.lastBlock = Math.max(fresh.lastBlock, row.lastBlock);
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

/**
 * Whether a row says more of its blocks than a request (`getWeight`), and nobody asked again for what it says: it is of
 * other kinds, or of an upstream that was not asked this time.
 */
function isHeavier(row: QuarantineRow, { cause, kinds, probed, tried = [] }: QuarantineRequest): boolean {
  if (probed === true || getWeight(row.cause) <= getWeight(cause)) return false;
  const isAsked = tried.some(({ upstream }) => upstream === row.upstream);
  return row.kinds.some((kind) => !kinds.includes(kind)) || (tried.length > 0 && !isAsked);
}

/** The request, with the finding of the row that it is a part of in place of its own cause, if that is heavier. */
function withFinding(
  request: QuarantineRequest,
  taken: readonly QuarantineRow[],
): QuarantineRequest & { tried: readonly QuarantineTry[] } {
  const { tried = [] } = request;
  const isAsked = (name: string | null): boolean => tried.some(({ upstream }) => upstream === name);
  const found = taken.find((row) => isHeavier(row, request));
  if (found === undefined) return { ...request, tried };
  const { message, upstream, payloadDigest } = found;
  const known = found.tried.filter((one) => !isAsked(one.upstream) || one.cause === found.cause);
  return { ...request, cause: found.cause, message, upstream, payloadDigest, tried: [...known, ...tried] };
}

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
        firstBlock: Math.max(row.firstBlock, range.firstBlock),
        lastBlock: Math.min(row.lastBlock, range.lastBlock),
      });
    }
  });
}

/** The parts of a row before and after a range. */
function outside<R extends QuarantineRow>(row: R, { firstBlock, lastBlock }: BlockRange): R[] {
  return [
    ...(row.firstBlock < firstBlock ? [{ ...row, lastBlock: firstBlock - 1 }] : []),
    ...(row.lastBlock > lastBlock ? [{ ...row, firstBlock: lastBlock + 1 }] : []),
  ];
}
