import { hash } from 'node:crypto';
import type { BlockSummary, Kind } from '@packhouse/chain';
import type { QuarantineTry } from '@packhouse/database';
import type { FailedBlock, FetchedBlock, FetchRequest } from '@packhouse/node-rpc';
import { heavier, isPackhouseError, type PackhouseError } from '@packhouse/runtime';
import { getCause } from './blame.js';
import { forkUnknown, type StrangeHeader, strangeHeader } from './fork-unknown.js';
import type { ProvedRecord } from './fragment-writer.js';
import { type BegunScan, dropTraces, type ProveDeps, proveRecord, scanRecord } from './prove-record.js';

/** A proved block, and the client version of the node that sent it. */
export interface NamedRecord extends ProvedRecord {
  client: string | null;
}

/** The kinds of an upstream's block of which a record contradicts the others, and may be false. */
interface SuspectKinds {
  upstream: string;
  kinds: readonly Kind[];
}

/** A block that no upstream sent, or whose data failed its proofs on every upstream that was asked. */
export interface ExtractFailure {
  number: number;
  error: Error;
  /** The upstream whose data failed as `error` says, or the last that was asked. */
  upstream: string | null;
  /** Hex SHA-256 of the answer that failed, if there was one. */
  payloadDigest: string | null;
  /** The result of each upstream, in the order they were asked. */
  tried: readonly QuarantineTry[];
  /** The upstreams whose data contradicts itself. */
  suspects: readonly SuspectKinds[];
}

/** What the blocks before this one, of the same window, leave to know. */
interface Neighbours {
  /** The block that was proved before this one. */
  before?: BlockSummary | undefined;
  /** Upstreams that left a part out of a block, which others gave or not: they are not asked for it again. */
  omitting: Set<string>;
  /** Whether some block of the window failed before: all senders are recovered then, also under `sample`. */
  suspected?: boolean;
  /** The scan of the fetched block, if it was begun. */
  scan?: BegunScan | undefined;
}

/**
 * Proves a fetched block. If a proof fails, the block is fetched again from the upstreams that have not failed it, one
 * after the other. Upstreams that failed it are reported once another one's block is proved: only then are they known
 * to be wrong. A proved block that lacks a part (`ProvedBlock.missing`) is taken if no other upstream gives it whole.
 * Throws only when aborted.
 */
export async function proveBlock(
  parts: ProveDeps,
  fetched: FetchedBlock | FailedBlock,
  wish: FetchRequest,
  signal: AbortSignal,
  { before, omitting, suspected = false, scan }: Neighbours = { omitting: new Set() },
): Promise<NamedRecord | ExtractFailure> {
  if ('error' in fetched) return notFetched(fetched);
  const { source, context } = parts;
  const { number } = fetched;
  const avoid: string[] = [];
  const tried: QuarantineTry[] = [];
  const suspects: SuspectKinds[] = [];
  /** Their own data is false. Where two blocks disagree it may be that of the one before. */
  const contradicted: string[] = [];
  const strange: StrangeHeader[] = [];
  let incomplete: NamedRecord | null = null;
  /** What says most about the block. */
  let worst: { upstream: string; failure: Error } | null = null;

  const proved = (record: NamedRecord): NamedRecord => {
    for (const upstream of contradicted) source.reportInvalidResponse(upstream);
    countCorrected(parts, record.block);
    return record;
  };
  const end = (): NamedRecord | ExtractFailure => {
    if (incomplete !== null || worst === null) return proved(incomplete as NamedRecord);
    const { upstream, failure } = worst;
    const digest = tried.findLast((one) => one.upstream === upstream)?.payloadDigest ?? null;
    const error = forkUnknown(number, strange, failure) ?? failure;
    return { number, error, upstream, payloadDigest: digest, tried, suspects };
  };

  for (let candidate = fetched; ; ) {
    const { upstream } = candidate;
    try {
      // After the first one, another upstream failed to prove this block.
      const isFirst = candidate === fetched;
      const wary = suspected || !isFirst || parts.contradicted?.has(upstream) === true;
      // A scan that was begun before the block before it was found false is not enough.
      const isBegun = isFirst && scan?.suspected === wary;
      const begun = isBegun ? scan : { record: scanRecord(parts, candidate, wary), suspected: wary };
      const record = await proveRecord(parts, candidate, before, begun);
      const named = { ...record, client: candidate.client ?? null };
      if (record.block.missing.length === 0) return proved(named);
      incomplete ??= named;
      omitting.add(upstream);
    } catch (error) {
      signal.throwIfAborted();
      const failure = error as Error;
      if (heavier(worst?.failure, failure) === failure) worst = { upstream, failure };
      tried.push(toTry(upstream, failure, payloadDigest(candidate)));
      if (isPackhouseError(error, 'PROOF_FAILED') || isPackhouseError(error, 'RECORD_INVALID')) {
        suspects.push({ upstream, kinds: error.data.kinds as readonly Kind[] });
        if (error.data.proof !== 'parentLink') {
          contradicted.push(upstream);
          parts.contradicted?.add(upstream);
        }
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
      if (typeof other === 'string' && !avoid.includes(other)) {
        tried.push(toTry(other, error as Error, null));
        if (worst !== null && heavier(error as Error, worst.failure) === error) {
          worst = { upstream: other, failure: error as Error };
        }
      }
      return end();
    }
    if (asked.includes(candidate.upstream)) {
      dropTraces(candidate);
      return end();
    }
  }
}

/** Counts the fields that were wrong and were written as they are. */
function countCorrected({ context, network }: ProveDeps, { corrected }: BlockSummary): void {
  for (const field of corrected) {
    context.metrics.count(
      'packhouse_corrected_fields_total',
      'Fields of blocks that were wrong, follow from others and were written as they are',
      { network, field },
    );
  }
}

/** A record without the required form counts as one that failed the proof `form`. */
function countFailedProof({ context, network }: ProveDeps, error: PackhouseError): void {
  const { proof } = error.data;
  context.metrics.count(
    'packhouse_failed_proofs_total',
    'Blocks whose data failed a proof, each upstream by itself',
    { network, proof: typeof proof === 'string' ? proof : 'form' },
  );
}

/** The failure of a block that is no upstream's. */
export function toFailure(number: number, error: Error): ExtractFailure {
  return { number, error, upstream: null, payloadDigest: null, tried: [], suspects: [] };
}

function notFetched({ number, error, upstreams, faults = [] }: FailedBlock): ExtractFailure {
  const tried = faults.map((fault) => toTry(fault.upstream, fault.error, null));
  const of = faults.findLast((fault) => fault.error === error)?.upstream;
  return { ...toFailure(number, error), upstream: of ?? upstreams.at(-1) ?? null, tried };
}

/** Messages of nodes may have any length; this much of them is kept. */
const MAX_MESSAGE = 500;

function toTry(upstream: string, error: Error, digest: string | null): QuarantineTry {
  const message = error.message.slice(0, MAX_MESSAGE);
  return { upstream, cause: getCause(error), message, payloadDigest: digest, ...getDifference(error) };
}

/** The field that failed a proof, if the failure names one. */
function getDifference(error: Error): Pick<QuarantineTry, 'differs'> {
  if (!isPackhouseError(error, 'PROOF_FAILED')) return {};
  const { field, expected, got } = error.data;
  if (typeof field !== 'string') return {};
  const [demanded, sent] = [expected, got].map((value) => String(value).slice(0, MAX_MESSAGE));
  return { differs: { field: field.slice(0, MAX_MESSAGE), expected: demanded ?? '', got: sent ?? '' } };
}

/**
 * The hex SHA-256 of an upstream's answer for a block, as JSON text with its parts in this order, so that an answer
 * shown later can be identified as the one that failed. null if it cannot be computed: streamed traces are gone.
 */
function payloadDigest(fetched: FetchedBlock): string | null {
  if (fetched.stream !== undefined) return null;
  try {
    const { block, receipts, traces } = fetched;
    return hash('sha256', JSON.stringify({ block, receipts, traces }));
  } catch {
    // Too deeply nested, or too long, for a JSON text; or malformed.
    return null;
  }
}
