import type { NftTokenRef } from '@packhouse/database';
import { isOwnedBy, standardOf } from './ask-contract.js';
import { base32Hex } from './base32-bytes.js';
import { type CoreNode, NodeTroubleError } from './core-node.js';
import {
  BATCH_TOPIC,
  SINGLE_TOPIC,
  TRANSFER_TOPIC,
  type TransferredToken,
  transfersOf,
} from './transfers.js';

/** Tokens of one job at most. */
export const JOB_TOKENS = 200;

export interface FoundTokens {
  tokens: NftTokenRef[];
  /** All that there are: the whole chain was seen, and there were no more than fit. */
  complete: boolean;
}

/** Epochs of the first question; twice as many after every answer, a quarter after every refusal. */
const FIRST_WIDTH = 100_000;
const GROWTH = 2;
const SHRINKING = 4;
/** Log questions of one search at most. */
const MAX_QUESTIONS = 256;
/** Tokens that were an owner's once, of which it is asked whether they still are, at most. */
const MAX_CANDIDATES = 1_000;
/** Contracts of one owner's tokens that no node can call; more are the nodes' own trouble. */
const MAX_DEAD = 8;

/**
 * Finds the tokens of a contract or an owner by their transfers, newest first: what moved last is what people look at.
 * Throws NodeTroubleError.
 */
export async function findTokens(
  node: CoreNode,
  target: { contract: string } | { owner: string },
  networkId: number,
  signal: AbortSignal,
): Promise<FoundTokens> {
  const keeps = 'owner' in target ? createOwnership(node, base32Hex(target.owner), signal) : null;
  const seen = new Set<string>();
  const tokens: NftTokenRef[] = [];
  let candidates = 0;
  for await (const token of newestTransfers(node, filtersOf(target), networkId, signal)) {
    if (token === 'more') return { tokens, complete: false };
    const name = `${token.contract} ${token.tokenId}`;
    if (seen.has(name)) continue;
    seen.add(name);
    if (tokens.length === JOB_TOKENS || candidates === MAX_CANDIDATES) return { tokens, complete: false };
    candidates += 1;
    if (keeps !== null && !(await keeps(token))) continue;
    tokens.push({ contract: token.contract, tokenId: token.tokenId });
  }
  return { tokens, complete: true };
}

/** Filters for transfers of a contract, or to an owner; ERC-721 and ERC-1155 have the receiver in different places. */
function filtersOf(target: { contract: string } | { owner: string }): object[] {
  if ('contract' in target) {
    return [{ address: [target.contract], topics: [[TRANSFER_TOPIC, SINGLE_TOPIC, BATCH_TOPIC]] }];
  }
  const owner = `0x${base32Hex(target.owner).padStart(64, '0')}`;
  return [
    { topics: [TRANSFER_TOPIC, null, owner] },
    { topics: [[SINGLE_TOPIC, BATCH_TOPIC], null, null, owner] },
  ];
}

/** Transfers from the newest epoch down; `more` where the questions are used up before the chain is. */
async function* newestTransfers(
  node: CoreNode,
  filters: readonly object[],
  networkId: number,
  signal: AbortSignal,
): AsyncGenerator<TransferredToken | 'more'> {
  let to = await node.epoch(signal);
  let width = FIRST_WIDTH;
  let refusedWidth = Number.POSITIVE_INFINITY;
  let questions = 0;
  while (to >= 0) {
    const from = Math.max(0, to - width + 1);
    const range = { fromEpoch: `0x${from.toString(16)}`, toEpoch: `0x${to.toString(16)}` };
    const found: TransferredToken[] = [];
    let refused = false;
    for (const filter of filters) {
      if (questions === MAX_QUESTIONS) {
        yield 'more';
        return;
      }
      questions += 1;
      const logs = await node.logs({ ...range, ...filter }, signal);
      refused = logs === null;
      if (logs === null) break;
      for (const log of logs.reverse()) found.push(...transfersOf(log, networkId));
    }
    if (refused) {
      if (from === to) throw new NodeTroubleError('the nodes refuse the logs of a single epoch');
      refusedWidth = to - from + 1;
      width = Math.max(1, Math.floor(refusedWidth / SHRINKING));
      continue;
    }
    yield* found.sort((a, b) => b.epoch - a.epoch);
    to = from - 1;
    // What was refused once is not asked for again.
    if (width * GROWTH < refusedWidth) width *= GROWTH;
  }
}

/**
 * Asks contracts whether a token still is an owner's; each contract is asked for its standard once. A token of a contract
 * that no node can call stays: whoever sends an owner such a token does not hide the others.
 */
function createOwnership(
  node: CoreNode,
  ownerHex: string,
  signal: AbortSignal,
): (token: TransferredToken) => Promise<boolean> {
  const dead = new Set<string>();
  const standards = new Map<string, Awaited<ReturnType<typeof standardOf>>>();
  return async ({ contract, tokenId }) => {
    if (dead.has(contract)) return true;
    try {
      if (!standards.has(contract)) standards.set(contract, await standardOf(node, contract, signal));
      const standard = standards.get(contract) ?? null;
      if (standard === null) return false;
      return await isOwnedBy(node, { contract, tokenId, standard }, ownerHex, signal);
    } catch (error) {
      if (!(error instanceof NodeTroubleError) || dead.size === MAX_DEAD) throw error;
      dead.add(contract);
      return true;
    }
  };
}
