import { createHash } from 'node:crypto';
import { createPieceWriter, type Deflate, type Piece } from '@packhouse/bundle';
import {
  type BlockSummary,
  checkTotalDifficulty,
  type Kind,
  type ProvedBlock,
  type Prover,
  traceProofs,
} from '@packhouse/chain';
import type { QuarantineTry } from '@packhouse/database';
import type { BlockSource, FailedBlock, FetchedBlock, FetchWish } from '@packhouse/node-rpc';
import { type Context, isPackhouseError, type PackhouseError } from '@packhouse/runtime';
import { forkUnknown, type StrangeHeader, strangeHeader } from './fork-unknown.js';
import type { ProvedRecord } from './fragment-writer.js';

export interface ProveParts {
  context: Context;
  source: BlockSource;
  prover: Prover;
  network: string;
  /** What deflates texts; default: zlib. */
  deflate?: Deflate | undefined;
}

/** A proved block, and the client version of the node that sent it. */
export interface NamedRecord extends ProvedRecord {
  client: string | null;
}

/** The kinds of an upstream's block of which a record contradicts the others, and may be false. */
interface Doubt {
  upstream: string;
  kinds: readonly Kind[];
}

/** A block that no upstream sent, or whose data failed its proofs on every upstream that was asked. */
export interface ExtractFailure {
  number: number;
  error: Error;
  /** The upstream whose data failed, or the last that was asked. */
  upstream: string | null;
  /** Hex SHA-256 of the answer that failed, if there was one. */
  payloadDigest: string | null;
  /** The result of each upstream, in the order they were asked. */
  tried: readonly QuarantineTry[];
  /** The upstreams whose data contradicts itself. */
  doubts: readonly Doubt[];
}

/** What the blocks before this one, of the same window, leave to know. */
interface Neighbours {
  /** The block that was proved before this one. */
  before?: BlockSummary | undefined;
  /** Upstreams that left a part out of a block, which others gave or not: they are not asked for it again. */
  omitting: Set<string>;
}

/**
 * Proves a fetched block. If a proof fails, the block is fetched again from the upstreams that have not failed it, one
 * after the other. Upstreams that failed it are reported once another one's block is proved: only then are they known
 * to be wrong. A proved block that lacks a part (`ProvedBlock.missing`) is taken if no other upstream gives it whole.
 * Throws only when aborted.
 */
export async function proveBlock(
  parts: ProveParts,
  fetched: FetchedBlock | FailedBlock,
  wish: FetchWish,
  signal: AbortSignal,
  { before, omitting }: Neighbours = { omitting: new Set() },
): Promise<NamedRecord | ExtractFailure> {
  if ('error' in fetched) return notFetched(fetched);
  const { source, context } = parts;
  const { number } = fetched;
  const avoid: string[] = [];
  const tried: QuarantineTry[] = [];
  const doubts: Doubt[] = [];
  /** Their own data is false. Where two blocks disagree it may be that of the one before. */
  const contradicted: string[] = [];
  const strange: StrangeHeader[] = [];
  let incomplete: NamedRecord | null = null;
  let last: { upstream: string; failure: Error } | null = null;

  const proved = (record: NamedRecord): NamedRecord => {
    for (const upstream of contradicted) source.reportLie(upstream);
    countCorrected(parts, record.block);
    return record;
  };
  const end = (): NamedRecord | ExtractFailure => {
    if (incomplete !== null || last === null) return proved(incomplete as NamedRecord);
    const { upstream, failure } = last;
    const digest = tried.findLast((one) => one.upstream === upstream)?.payloadDigest ?? null;
    const error = forkUnknown(number, strange, failure) ?? failure;
    return { number, error, upstream, payloadDigest: digest, tried, doubts };
  };

  for (let candidate = fetched; ; ) {
    const { upstream } = candidate;
    try {
      const record = await proveRecord(parts, candidate, before);
      const named = { ...record, client: candidate.client ?? null };
      if (record.block.missing.length === 0) return proved(named);
      incomplete ??= named;
      omitting.add(upstream);
    } catch (error) {
      signal.throwIfAborted();
      const failure = error as Error;
      last = { upstream, failure };
      tried.push(tryOf(upstream, failure, payloadDigest(candidate)));
      if (isPackhouseError(error, 'PROOF_FAILED') || isPackhouseError(error, 'RECORD_INVALID')) {
        doubts.push({ upstream, kinds: error.data.kinds as readonly Kind[] });
        if (error.data.proof !== 'parentLink') contradicted.push(upstream);
        countFailedProof(parts, error);
        const header = strangeHeader(error, candidate);
        if (header !== null) strange.push(header);
      }
      context.logger.warn({ block: number, upstream, err: error }, 'block failed its proofs');
    }
    avoid.push(upstream);
    const asked = incomplete === null ? avoid : [...avoid, ...omitting];
    if (source.status().every(({ name }) => asked.includes(name))) return end();
    try {
      candidate = await source.fetchBlock(number, wish, { avoid: asked, signal });
    } catch (error) {
      signal.throwIfAborted();
      const other = isPackhouseError(error) ? error.data?.upstream : undefined;
      if (typeof other === 'string' && !avoid.includes(other)) tried.push(tryOf(other, error as Error, null));
      return end();
    }
    if (asked.includes(candidate.upstream)) {
      dropTraces(candidate);
      return end();
    }
  }
}

async function proveRecord(
  parts: ProveParts,
  fetched: FetchedBlock,
  before: BlockSummary | undefined,
): Promise<ProvedRecord> {
  const scanned = scanRecord(parts, fetched, before);
  if (scanned !== null) return scanned;
  const { prover } = parts;
  let block: ProvedBlock;
  try {
    // Reading them parses them, which fails if they are malformed.
    const { receipts } = fetched;
    block = prover.proveBlock({ block: fetched.block, ...(receipts === undefined ? {} : { receipts }) });
    if (before !== undefined) checkTotalDifficulty(before, block);
  } catch (error) {
    dropTraces(fetched);
    throw error;
  }
  const { texts, transactions } = block;
  const record = { block, transactionCount: transactions.length, texts };
  const traces =
    fetched.stream === undefined
      ? textOfTraces(parts, block, fetched)
      : await deflateTraces(parts, block, fetched.stream);
  if (traces === undefined) return record;
  return { ...record, block: { ...block, proofs: [...block.proofs, ...traceProofs(block)] }, traces };
}

/** Proves a block from its bytes; null if it must be parsed and proved, which is counted with its reason. */
function scanRecord(
  { context, network, prover }: ProveParts,
  { raw }: FetchedBlock,
  before: BlockSummary | undefined,
): ProvedRecord | null {
  const scanned = raw === undefined ? 'parsed' : prover.proveRaw(raw);
  context.metrics
    .counter(
      'packhouse_scanned_blocks_total',
      'Blocks by how they were proved: from their bytes (scanned), or as objects, and why',
      ['network', 'result'],
    )
    .inc({ network, result: typeof scanned === 'string' ? scanned : 'scanned' });
  if (typeof scanned === 'string') return null;
  if (before !== undefined) checkTotalDifficulty(before, scanned);
  const { texts, transactionCount, ...block } = scanned;
  const { traces, ...others } = texts;
  return { block, transactionCount, texts: others, ...(traces === undefined ? {} : { traces }) };
}

function textOfTraces({ prover }: ProveParts, block: ProvedBlock, fetched: FetchedBlock): string | undefined {
  const traces = fetched.traces as unknown[] | undefined;
  return traces === undefined ? undefined : prover.proveTraces(block, traces);
}

/** Checks and deflates traces while they arrive, so that an answer of any size takes bounded memory. */
async function deflateTraces(
  { prover, deflate }: ProveParts,
  block: ProvedBlock,
  traces: AsyncIterable<unknown>,
): Promise<Piece> {
  const proof = prover.traceProver(block);
  const writer = createPieceWriter(deflate);
  let separator = '[';
  for await (const trace of traces) {
    await writer.write(Buffer.from(separator + proof.push(trace), 'latin1'));
    separator = ',';
  }
  proof.finish();
  await writer.write(Buffer.from(separator === '[' ? '[]' : ']'));
  return await writer.finish();
}

/**
 * Ends traces that will not be read: they may be an answer that still arrives on its own connection. An error of that
 * connection is ignored; unhandled, it would end the process.
 */
export function dropTraces({ stream }: Pick<FetchedBlock, 'stream'>): void {
  stream?.[Symbol.asyncIterator]()
    .return?.()
    .catch(() => undefined);
}

/** Counts the fields that were wrong and were written as they are. */
function countCorrected({ context, network }: ProveParts, { corrected }: BlockSummary): void {
  for (const field of corrected) {
    context.metrics
      .counter(
        'packhouse_corrected_fields_total',
        'Fields of blocks that were wrong, follow from others and were written as they are',
        ['network', 'field'],
      )
      .inc({ network, field });
  }
}

/** A record without the required form counts as one that failed the proof `form`. */
function countFailedProof({ context, network }: ProveParts, error: PackhouseError): void {
  const { proof } = error.data;
  context.metrics
    .counter('packhouse_failed_proofs_total', 'Blocks whose data failed a proof, each upstream by itself', [
      'network',
      'proof',
    ])
    .inc({ network, proof: typeof proof === 'string' ? proof : 'form' });
}

function notFetched({ number, error, upstreams, faults }: FailedBlock): ExtractFailure {
  const tried = (faults ?? []).map((fault) => tryOf(fault.upstream, fault.error, null));
  return { number, error, upstream: upstreams.at(-1) ?? null, payloadDigest: null, tried, doubts: [] };
}

/** Messages of nodes may have any length; this much of them is kept. */
const MAX_MESSAGE = 500;

function tryOf(upstream: string, error: Error, digest: string | null): QuarantineTry {
  const cause = isPackhouseError(error) ? error.code : 'INTERNAL';
  return { upstream, cause, message: error.message.slice(0, MAX_MESSAGE), payloadDigest: digest };
}

/**
 * The hex SHA-256 of an upstream's answer for a block, as JSON text with its parts in this order, so that an answer
 * shown later can be identified as the one that failed. null if it cannot be computed: streamed traces are gone.
 */
function payloadDigest(fetched: FetchedBlock): string | null {
  if (fetched.stream !== undefined) return null;
  try {
    const { block, receipts, traces } = fetched;
    return createHash('sha256').update(JSON.stringify({ block, receipts, traces })).digest('hex');
  } catch {
    // Too deeply nested, or too long, for a JSON text; or malformed.
    return null;
  }
}
