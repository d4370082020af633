import type { LeasedNftJob, Nft, NftOutcome, NftTokenRef } from '@packhouse/database';
import { type Context, openScope } from '@packhouse/runtime';
import { createStandards, getUri, type TokenStandard } from './ask-contract.js';
import { type CoreNode, NodeTroubleError } from './core-node.js';
import type { FetchDocument } from './fetch-document.js';
import { findTokens } from './find-tokens.js';
import { placeOfDocument, type UriPolicy } from './token-document.js';

export interface JobParts {
  context: Context;
  nft: Nft;
  node: CoreNode;
  /** As in addresses. */
  networkId: number;
  fetchDocument: FetchDocument;
  uris: UriPolicy;
}

/** A token is refreshed at most once in this time, over all applications. */
export const REFRESH_EVERY_MS = 900_000;

/** Tokens of one job refreshed at the same time. */
const CONCURRENCY = 4;
/** Time until a job that waits for tokens of another job is resumed. */
const BUSY_MS = 1_000;
/** No upstream answered: time to the next try, doubled after each, and the number of tries. */
const TROUBLE_MS = 5_000;
const MAX_FAILURES = 5;
/** Tokens that no upstream answered for, before the job is postponed: one dead contract must not delay the others. */
const MAX_TROUBLES = 8;
/** A job whose holders died this often ends: it may be the cause. */
const MAX_TAKEOVERS = 5;
/** Characters of a URI that are stored. */
const KEPT_URI = 2_048;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Works on a job to its end, or until it has to be postponed. Rejects if the signal is aborted or Postgres fails; then
 * nothing is lost: the next holder continues with the tokens that have no outcome.
 */
export async function runJob(parts: JobParts, job: LeasedNftJob, signal: AbortSignal): Promise<void> {
  const { nft, context } = parts;
  if (job.takeovers > MAX_TAKEOVERS) {
    await nft.end(job, 'unreachable');
    return;
  }
  try {
    if (!job.found) {
      const target = job.contract === null ? { owner: job.owner ?? '' } : { contract: job.contract };
      const { tokens, complete } = await findTokens(parts.node, target, parts.networkId, signal);
      if (!(await nft.addTokens(job, tokens, complete))) return;
    }
    const busy = await refreshAll(parts, job, signal);
    if (busy) await nft.release(job, { delayMs: BUSY_MS, failed: false });
    else await nft.end(job, 'unreachable');
  } catch (error) {
    if (!(error instanceof NodeTroubleError) || signal.aborted) throw error;
    const { network, failures } = job;
    context.logger.warn({ network, failures, err: error }, 'no node answers for a refresh job');
    if (failures + 1 >= MAX_FAILURES) await nft.end(job, 'unreachable');
    else await nft.release(job, { delayMs: TROUBLE_MS * 2 ** failures, failed: true });
  }
}

/** Refreshes the tokens without an outcome; true if another job has some of them. */
async function refreshAll(parts: JobParts, job: LeasedNftJob, outer: AbortSignal): Promise<boolean> {
  const { nft, context } = parts;
  const waiting = await nft.waiting(job);
  // The first failure ends the others: the job is released.
  const scope = openScope(outer);
  const { signal } = scope;
  const standards = createStandards(parts.node, signal);
  const counted = context.metrics.counter('packhouse_nft_tokens_total', 'Tokens refreshed, by outcome.', [
    'network',
    'outcome',
  ]);
  let busy = false;
  let troubles = 0;
  let trouble: NodeTroubleError | undefined;
  let next = 0;
  const work = async (): Promise<void> => {
    for (let mine = next++; mine < waiting.length; mine = next++) {
      signal.throwIfAborted();
      const token = waiting[mine] as NftTokenRef & { position: number };
      const now = context.clock.now();
      const time = { now: new Date(now), recentAfter: new Date(now - REFRESH_EVERY_MS) };
      const leave = await nft.begin(job, token.position, time);
      if (leave === 'lost') throw new Error('another gateway has the job');
      if (leave === 'busy') busy = true;
      if (leave !== 'mine') continue;
      let result: RefreshedToken;
      try {
        const standard = await standards(token.contract);
        result = await refreshToken(parts, { ...token, standard }, signal);
      } catch (error) {
        if (!(error instanceof NodeTroubleError) || troubles === MAX_TROUBLES) throw error;
        troubles += 1;
        trouble = error;
        continue;
      }
      await nft.settle(job, token.position, result);
      counted.inc({ network: job.network, outcome: result.outcome });
    }
  };
  const workers = Array.from({ length: Math.min(CONCURRENCY, waiting.length) }, () =>
    work().catch((error: unknown) => {
      scope.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(workers);
  scope.close();
  await Promise.all(workers);
  if (trouble !== undefined) throw trouble;
  return busy;
}

interface RefreshedToken {
  outcome: NftOutcome;
  standard?: TokenStandard;
  uri?: string;
  /** JSON text, as it was fetched. */
  metadata?: string;
}

/** Asks a contract where a token's document is, and fetches it. Throws NodeTroubleError, and the signal's reason. */
async function refreshToken(
  parts: JobParts,
  token: NftTokenRef & { standard: TokenStandard | null },
  signal: AbortSignal,
): Promise<RefreshedToken> {
  const { standard } = token;
  if (standard === null) return { outcome: 'missing_token' };
  const found = await getUri(parts.node, { ...token, standard }, signal);
  if ('outcome' in found) return { outcome: found.outcome, standard };
  // Postgres text cannot hold a zero character.
  const known = { standard, uri: found.uri.slice(0, KEPT_URI).replaceAll('\0', '') };
  const document = await getDocument(parts, found.uri, signal);
  if ('outcome' in document) return { ...known, outcome: document.outcome };
  const metadata = objectText(document.bytes);
  return metadata === null
    ? { ...known, outcome: 'invalid_json' }
    : { ...known, outcome: 'indexed', metadata };
}

async function getDocument(
  parts: JobParts,
  uri: string,
  signal: AbortSignal,
): Promise<{ bytes: Buffer } | { outcome: Exclude<NftOutcome, 'indexed'> }> {
  const place = placeOfDocument(uri, parts.uris);
  if (!('urls' in place)) return place;
  let last: Awaited<ReturnType<FetchDocument>> = { outcome: 'unreachable' };
  for (const url of place.urls) {
    last = await parts.fetchDocument(url, signal);
    // Another IPFS or Arweave gateway may have it.
    if (!('outcome' in last) || (last.outcome !== 'unreachable' && last.outcome !== 'throttled')) break;
  }
  return last;
}

/** The unchanged text of a JSON object in UTF-8; null if it is none. */
function objectText(bytes: Buffer): string | null {
  try {
    const text = utf8.decode(bytes);
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? text : null;
  } catch {
    return null;
  }
}
