import type { BlockRange } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import { hashBytes, kindCode, notProvedText, proofsMask } from '../connection/codes.js';
import { type Connections, type Session, statement } from '../connection/connections.js';
import { copyIn, createCopyEncoder } from '../connection/copy.js';
import type { Named } from '../tables/published/bundles.js';
import { type BundleEndsRow, checkLinks, selectBundleEnds } from './check-links.js';
import type { ClientNames } from './client-names.js';
import { type StagedBlockRow, type StagedKind, type StageRequest, selectBlocks } from './rows.js';
import {
  ensureSegment,
  getSegment,
  networkLock,
  partitionNames,
  SEGMENT_BLOCKS,
  type Segment,
  segmentLock,
  segmentStart,
  segmentState,
} from './segments.js';

/**
 * $1, $2 keys of the network's lock (shared); $3 first key, $4 second keys (int4[], ascending) of segments' locks.
 *
 * A separate statement, so that the snapshot of the next one is taken under the locks. All sessions take them in the
 * same order, which avoids deadlocks.
 */
const lockStage = statement(
  'staging/lock-stage',
  `WITH network AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared($1, $2))
   SELECT pg_advisory_xact_lock($3, segment) FROM network, unnest($4::int4[]) AS segment`,
);

/** $1 network id, $2 kinds (int2[]), $3 first block, $4 last block, $5 first block of their segment: staged ranges by kind. */
const selectStagedRanges = statement(
  'staging/select-staged-ranges',
  `SELECT kind, first_block AS "firstBlock", last_block AS "lastBlock"
   FROM packhouse.fragment
   WHERE network_id = $1 AND kind = ANY($2::int2[]) AND first_block BETWEEN $5 AND $4 AND last_block >= $3`,
);

/** $1 network id, $2 blocks (int8[]), $3 proofs (int4[]), $4 texts of what is not proved (text[], empty: as before):
 * adds the proofs of another job to blocks staged before.
 *
 * The last condition repeats the join so that the other partitions are pruned. */
const updateProofs = statement(
  'staging/update-proofs',
  `UPDATE packhouse.staged_block AS s SET proofs = s.proofs | more.proofs,
     not_proved = CASE WHEN more.not_proved = '' THEN s.not_proved ELSE more.not_proved END
   FROM unnest($2::int8[], $3::int4[], $4::text[]) AS more (block, proofs, not_proved)
   WHERE s.network_id = $1 AND s.block = more.block AND s.block = ANY($2::int8[])`,
);

interface KindRange {
  kind: number;
  firstBlock: number;
  lastBlock: number;
}

/**
 * Stages blocks in one transaction under the segment's lock. Checks parent links against the staged and published
 * neighbours on both sides and the hashes of blocks staged before. Skips what is already staged or published of
 * each kind and writes the rest by binary COPY. Repeating it changes nothing. Throws STAGE_CONFLICT if hashes do
 * not match (data: {number, expected, got, by, published}: the expected hash comes from block `by`, which is in a
 * bundle if `published`).
 *
 * ```
 * lock segment(s) → partition there? ─no─▶ make it, begin again
 *                        │yes
 *                        ▼
 *   hashes fit? ─no─▶ STAGE_CONFLICT        leave out what is there → COPY blocks → COPY fragments → commit
 * ```
 *
 * A fragment is left out if one of its blocks is staged or published in that kind; its other blocks stay holes, which
 * the next plan fetches. At the border of a segment the neighbour's lock is taken as well, so that adjacent runs
 * see each other.
 */
export async function stage(
  connections: Connections,
  clients: ClientNames,
  networkId: number,
  request: Named<StageRequest>,
): Promise<{ staged: boolean }> {
  const range = checkRequest(request);
  const segment = getSegment(networkId, range.firstBlock);
  const clientIds = await clients.ids(request.blocks.flatMap(({ client }) => client ?? []));
  for (;;) {
    const done = await connections.transaction(async (session) => {
      await lock(session, segment, range);
      if ((await segmentState(session, segment)) !== 'ready') return null;
      return write(session, segment, { ...request, clientIds }, range);
    });
    if (done !== null) return done;
    await ensureSegment(connections, segment);
  }
}

async function lock(session: Session, segment: Segment, range: BlockRange): Promise<void> {
  const numbers = [segment.number];
  if (range.firstBlock % SEGMENT_BLOCKS === 0 && segment.number > 0) numbers.unshift(segment.number - 1);
  if ((range.lastBlock + 1) % SEGMENT_BLOCKS === 0) numbers.push(segment.number + 1);
  await session.query(lockStage, [...networkLock(segment.networkId), segmentLock(segment)[0], numbers]);
}

async function write(
  session: Session,
  segment: Segment,
  request: Named<StageRequest> & { clientIds: ReadonlyMap<string, number | null> },
  { firstBlock, lastBlock }: BlockRange,
): Promise<{ staged: boolean }> {
  const { networkId } = segment;
  const around = [networkId, firstBlock - 1, lastBlock + 1];
  const staged = await session.query<StagedBlockRow>(selectBlocks, around);
  const bundles = await session.query<BundleEndsRow>(selectBundleEnds, around);
  checkLinks(request, staged, bundles);

  const codes = request.kinds.map(({ kind }) => kindCode(kind));
  const here = await session.query<KindRange>(selectStagedRanges, [
    networkId,
    codes,
    firstBlock,
    lastBlock,
    segmentStart(firstBlock),
  ]);
  const kinds = withoutTaken(request.kinds, [...here, ...bundles]);
  if (kinds.length === 0 && request.kinds.length > 0) return { staged: false };

  const { blocks, fragments } = partitionNames(segment);
  const changed = await writeBlocks(session, networkId, blocks, request, staged);
  if (kinds.length > 0) await writeFragments(session, networkId, fragments, kinds);
  return { staged: changed || kinds.length > 0 };
}

/** The kinds with the fragments that have no block in `taken`; kinds with none are left out. */
function withoutTaken(kinds: readonly StagedKind[], taken: readonly KindRange[]): StagedKind[] {
  return kinds.flatMap(({ kind, fragments }) => {
    const ranges = taken.filter((range) => range.kind === kindCode(kind));
    const free = fragments.filter(
      ({ firstBlock, lastBlock }) =>
        !ranges.some((range) => range.firstBlock <= lastBlock && range.lastBlock >= firstBlock),
    );
    return free.length === 0 ? [] : [{ kind, fragments: free }];
  });
}

async function writeBlocks(
  session: Session,
  networkId: number,
  partition: string,
  request: Named<StageRequest> & { clientIds: ReadonlyMap<string, number | null> },
  staged: readonly StagedBlockRow[],
): Promise<boolean> {
  const before = new Map(staged.map((row) => [row.number, row.proofs]));
  const fresh = request.blocks.filter(({ number }) => !before.has(number));
  const proved = request.blocks.filter(({ number, proofs }) => {
    const had = before.get(number);
    return had !== undefined && (had | proofsMask(proofs)) !== had;
  });
  if (proved.length > 0) {
    const masks = proved.map(({ proofs }) => proofsMask(proofs));
    const texts = proved.map((block) => notProvedText(block.notProved));
    await session.query(updateProofs, [networkId, proved.map(({ number }) => number), masks, texts]);
  }
  if (fresh.length === 0) return false;
  const encoder = createCopyEncoder();
  for (const block of fresh) {
    encoder.row(9);
    encoder.int2(networkId);
    encoder.int8(block.number);
    encoder.bytes(hashBytes(block.hash));
    encoder.bytes(hashBytes(block.parentHash));
    encoder.int8(block.timestamp);
    encoder.int4(block.transactionCount);
    encoder.int4(proofsMask(block.proofs));
    const client = block.client == null ? null : (request.clientIds.get(block.client) ?? null);
    if (client === null) encoder.none();
    else encoder.int2(client);
    encoder.bytes(Buffer.from(notProvedText(block.notProved)));
  }
  await copyIn(
    session.client,
    `COPY packhouse.${partition} (network_id, block, hash, parent_hash, timestamp, transaction_count, proofs,
       client, not_proved)
     FROM STDIN (FORMAT binary)`,
    encoder.finish(),
  );
  return true;
}

/** Writes into the partition itself: COPY into the parent would search the partition for each row. */
async function writeFragments(
  session: Session,
  networkId: number,
  partition: string,
  kinds: readonly StagedKind[],
): Promise<void> {
  const encoder = createCopyEncoder();
  for (const { kind, fragments } of kinds) {
    const code = kindCode(kind);
    for (const fragment of fragments) {
      encoder.row(8);
      encoder.int2(networkId);
      encoder.int2(code);
      encoder.int8(fragment.firstBlock);
      encoder.int8(fragment.lastBlock);
      encoder.int4(fragment.rawLength);
      encoder.int8(fragment.crc32);
      encoder.bytes(fragment.body);
      if (fragment.items === undefined) encoder.none();
      else encoder.bytes(fragment.items);
    }
  }
  await copyIn(
    session.client,
    `COPY packhouse.${partition} (network_id, kind, first_block, last_block, raw_length, crc32, body, items)
     FROM STDIN (FORMAT binary)`,
    encoder.finish(),
  );
}

/** Refuses invalid requests: gaps, a crossed segment border, fragments that do not cover the blocks. */
function checkRequest(request: Named<StageRequest>): BlockRange {
  const first = request.blocks[0];
  const last = request.blocks.at(-1);
  if (first === undefined || last === undefined) throw fault(request, 'it has no blocks');
  const [firstBlock, lastBlock] = [first.number, last.number];
  if (!Number.isSafeInteger(firstBlock) || firstBlock < 0)
    throw fault(request, `block ${firstBlock} is not a number`);
  request.blocks.forEach((block, index) => {
    if (block.number !== firstBlock + index) throw fault(request, `block ${firstBlock + index} is missing`);
  });
  if (Math.floor(firstBlock / SEGMENT_BLOCKS) !== Math.floor(lastBlock / SEGMENT_BLOCKS)) {
    throw fault(request, `${firstBlock}-${lastBlock} crosses the border of a segment`);
  }
  for (const { kind, fragments } of request.kinds) {
    let next = firstBlock;
    for (const fragment of fragments) {
      if (fragment.firstBlock !== next || fragment.lastBlock < next) {
        throw fault(request, `the fragments of ${kind} leave out block ${next}`);
      }
      next = fragment.lastBlock + 1;
    }
    if (next !== lastBlock + 1)
      throw fault(request, `the fragments of ${kind} end at ${next - 1} instead of ${lastBlock}`);
  }
  return { firstBlock, lastBlock };
}

function fault(request: Named<StageRequest>, what: string): PackhouseError {
  return new PackhouseError({
    code: 'INTERNAL',
    message: `A run of ${request.network} cannot be staged: ${what}.`,
    data: { network: request.network },
  });
}
