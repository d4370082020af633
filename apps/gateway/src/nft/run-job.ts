import type { LeasedNftJob, Nft, NftTokenRef } from '@packhouse/database';
import type { Context } from '@packhouse/runtime';
import { standardOf, type TokenStandard } from './ask-contract.js';
import { type CoreNode, NodeTroubleError } from './core-node.js';
import type { FetchDocument } from './fetch-document.js';
import { findTokens } from './find-tokens.js';
import { type RefreshedToken, refreshToken } from './refresh-token.js';
import type { UriPolicy } from './token-document.js';

/** What a job is worked on with. */
export interface JobParts {
  context: Context;
  nft: Nft;
  node: CoreNode;
  /** The network's number in its addresses. */
  networkId: number;
  fetchDocument: FetchDocument;
  uris: UriPolicy;
}

/** A token is asked for once in this time, whoever asks. */
export const REFRESH_EVERY_MS = 900_000;

/** Tokens of one job under way. */
const CONCURRENCY = 4;
/** When a job is taken up again that waits for tokens which another job is at. */
const BUSY_MS = 1_000;
/** No node answered: how long until the next try, twice as long after each, and how often. */
const TROUBLE_MS = 5_000;
const MAX_FAILURES = 5;
/** A contract that no node can call holds up nobody else’s tokens; so many are the nodes’ own trouble. */
const MAX_TROUBLES = 8;
/** A job whose holder is gone so often is not what others should try as well. */
const MAX_TAKEOVERS = 5;

/**
 * Works on a job to its end, or until it has to be put off. Rejects where the signal is aborted and where Postgres
 * fails; then nothing is lost, and whoever takes the job goes on with the tokens that have no outcome.
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
    context.logger.warn({ network, failures, err: error }, 'no node answers for a job of tokens');
    if (failures + 1 >= MAX_FAILURES) await nft.end(job, 'unreachable');
    else await nft.release(job, { delayMs: TROUBLE_MS * 2 ** failures, failed: true });
  }
}

/** Refreshes what has no outcome yet; true where some of it is with another job. */
async function refreshAll(parts: JobParts, job: LeasedNftJob, outer: AbortSignal): Promise<boolean> {
  const { nft, context } = parts;
  const waiting = await nft.waiting(job);
  // The first failure ends the others: nobody works on for a job that was given back.
  const stop = new AbortController();
  const signal = AbortSignal.any([outer, stop.signal]);
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
      if (leave === 'lost') throw new Error('the job is somebody else’s');
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
      stop.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(workers);
  await Promise.all(workers);
  if (trouble !== undefined) throw trouble;
  return busy;
}

/** Each contract is asked for its standard once. */
function createStandards(
  node: CoreNode,
  signal: AbortSignal,
): (contract: string) => Promise<TokenStandard | null> {
  const known = new Map<string, Promise<TokenStandard | null>>();
  return (contract) => {
    const asked = known.get(contract) ?? standardOf(node, contract, signal);
    known.set(contract, asked);
    return asked;
  };
}
