import { hashBytes, kindCode, proofsMask } from '../connection/codes.js';
import type { Connections, Session } from '../connection/connections.js';
import { copyIn } from '../copy/copy-in.js';
import { createCopyEncoder } from '../copy/encode-copy.js';
import { SEGMENT_BLOCKS, type StagedKind, type StageRequest } from '../database.js';
import { checkLinks } from './check-links.js';
import { checkRequest } from './check-request.js';
import type { ClientNames } from './client-names.js';
import { ensureSegment, segmentState } from './ensure-segment.js';
import { lockStage } from './lock-stage.js';
import {
  networkLock,
  partitionNames,
  type Segment,
  segmentLock,
  segmentOf,
  segmentStart,
} from './segments.js';
import { type StagedBlockRow, selectBlocks } from './select-blocks.js';
import { type BundleEndsRow, selectBundleEnds } from './select-bundle-ends.js';
import { selectStagedRanges } from './select-staged-ranges.js';
import { updateProofs } from './update-proofs.js';

interface KindRange {
  kind: number;
  start: number;
  end: number;
}

/**
 * Stages a run of blocks (see Database.staging.stage).
 *
 * ```
 * lock segment(s) → partition there? ─no─▶ make it, begin again
 *                        │yes
 *                        ▼
 *   hashes fit? ─no─▶ STAGE_CONFLICT        leave out what is there → COPY blocks → COPY fragments → commit
 * ```
 *
 * A fragment is left out as soon as one of its blocks is there in that kind; what it alone has stays a hole that
 * the next plan names exactly. At the border of a segment the neighbour's lock is taken as well, so that two runs
 * that meet there see each other.
 */
export async function stage(
  connections: Connections,
  clients: ClientNames,
  networkId: number,
  request: StageRequest,
): Promise<{ staged: boolean }> {
  const range = checkRequest(request);
  const segment = segmentOf(networkId, range.start);
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

async function lock(
  session: Session,
  segment: Segment,
  range: { start: number; end: number },
): Promise<void> {
  const numbers = [segment.number];
  if (range.start % SEGMENT_BLOCKS === 0 && segment.number > 0) numbers.unshift(segment.number - 1);
  if ((range.end + 1) % SEGMENT_BLOCKS === 0) numbers.push(segment.number + 1);
  await session.query(lockStage, [...networkLock(segment.networkId), segmentLock(segment)[0], numbers]);
}

async function write(
  session: Session,
  segment: Segment,
  request: StageRequest & { clientIds: ReadonlyMap<string, number | null> },
  { start, end }: { start: number; end: number },
): Promise<{ staged: boolean }> {
  const { networkId } = segment;
  const around = [networkId, start - 1, end + 1];
  const staged = await session.query<StagedBlockRow>(selectBlocks, around);
  const bundles = await session.query<BundleEndsRow>(selectBundleEnds, around);
  checkLinks(request, staged, bundles);

  const codes = request.kinds.map(({ kind }) => kindCode(kind));
  const here = await session.query<KindRange>(selectStagedRanges, [
    networkId,
    codes,
    start,
    end,
    segmentStart(start),
  ]);
  const kinds = withoutTaken(request.kinds, [...here, ...bundles]);
  if (kinds.length === 0 && request.kinds.length > 0) return { staged: false };

  const { blocks, fragments } = partitionNames(segment);
  const changed = await writeBlocks(session, networkId, blocks, request, staged);
  if (kinds.length > 0) await writeFragments(session, networkId, fragments, kinds);
  return { staged: changed || kinds.length > 0 };
}

/** The kinds with those fragments of which no block is there yet; kinds with none are left out. */
function withoutTaken(kinds: readonly StagedKind[], taken: readonly KindRange[]): StagedKind[] {
  return kinds.flatMap(({ kind, fragments }) => {
    const ranges = taken.filter((range) => range.kind === kindCode(kind));
    const free = fragments.filter(
      ({ startBlock, endBlock }) =>
        !ranges.some((range) => range.start <= endBlock && range.end >= startBlock),
    );
    return free.length === 0 ? [] : [{ kind, fragments: free }];
  });
}

async function writeBlocks(
  session: Session,
  networkId: number,
  partition: string,
  request: StageRequest & { clientIds: ReadonlyMap<string, number | null> },
  staged: readonly StagedBlockRow[],
): Promise<boolean> {
  const before = new Map(staged.map((row) => [row.block, row.proofs]));
  const fresh = request.blocks.filter(({ number }) => !before.has(number));
  const proved = request.blocks.filter(({ number, proofs }) => {
    const had = before.get(number);
    return had !== undefined && (had | proofsMask(proofs)) !== had;
  });
  if (proved.length > 0) {
    const masks = proved.map(({ proofs }) => proofsMask(proofs));
    await session.query(updateProofs, [networkId, proved.map(({ number }) => number), masks]);
  }
  if (fresh.length === 0) return false;
  const encoder = createCopyEncoder();
  for (const block of fresh) {
    encoder.row(8);
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
  }
  await copyIn(
    session.client,
    `COPY packhouse.${partition} (network_id, block, hash, parent_hash, timestamp, transaction_count, proofs,
       client)
     FROM STDIN (FORMAT binary)`,
    encoder.finish(),
  );
  return true;
}

/** Into the partition itself: COPY into the parent would look for the partition row by row. */
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
      encoder.row(7);
      encoder.int2(networkId);
      encoder.int2(code);
      encoder.int8(fragment.startBlock);
      encoder.int8(fragment.endBlock);
      encoder.int4(fragment.rawLength);
      encoder.int8(fragment.crc32);
      encoder.bytes(fragment.body);
    }
  }
  await copyIn(
    session.client,
    `COPY packhouse.${partition} (network_id, kind, block, end_block, raw_length, crc32, body)
     FROM STDIN (FORMAT binary)`,
    encoder.finish(),
  );
}
