import {
  canonicalCoreAddress,
  checkCoreAddress,
  coreAddressHex,
  TOKEN_EVENTS,
  toQuantity,
} from '@packhouse/chain';
import type { NftTokenRef } from '@packhouse/database';
import { decodeUint, decodeUints } from './abi.js';
import { createStandards, isOwnedBy } from './ask-contract.js';
import { type CoreNode, NodeTroubleError } from './core-node.js';

/** Tokens per job at most. */
export const JOB_TOKENS = 200;

/** Epochs of the first log request; twice as many after every answer, a quarter after every refusal. */
const FIRST_WIDTH = 100_000;
const GROWTH = 2;
const SHRINKING = 4;
/** Log requests per search at most. */
const MAX_QUESTIONS = 256;
/** Tokens checked at most for still belonging to the owner. */
const MAX_CANDIDATES = 1_000;
/** Contracts of one owner's tokens that no upstream can call; more than these mean that the upstreams fail. */
const MAX_DEAD = 8;
/** Ids of one TransferBatch that are read. */
const MAX_BATCH = 1_000;

/** A token that was transferred. */
interface TransferredToken extends NftTokenRef {
  epoch: number;
}

/**
 * Finds the tokens of a contract or an owner by their transfers, newest first: people look at the last transfers.
 * `complete`: the whole chain was searched, and there were no more tokens than fit. Throws NodeTroubleError.
 */
export async function findTokens(
  node: CoreNode,
  target: { contract: string } | { owner: string },
  networkId: number,
  signal: AbortSignal,
): Promise<{ tokens: NftTokenRef[]; complete: boolean }> {
  const keeps = 'owner' in target ? createOwnership(node, coreAddressHex(target.owner), signal) : null;
  const seen = new Set<string>();
  const tokens: NftTokenRef[] = [];
  let candidates = 0;
  for await (const token of newestTransfers(node, getFilters(target), networkId, signal)) {
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

/** Filters for transfers of a contract, or to an owner; the receiver is topic 2 in ERC-721 and topic 3 in ERC-1155. */
function getFilters(target: { contract: string } | { owner: string }): object[] {
  if ('contract' in target) {
    return [
      {
        address: [target.contract],
        topics: [[TOKEN_EVENTS.transfer, TOKEN_EVENTS.transferSingle, TOKEN_EVENTS.transferBatch]],
      },
    ];
  }
  const owner = `0x${coreAddressHex(target.owner).padStart(64, '0')}`;
  return [
    { topics: [TOKEN_EVENTS.transfer, null, owner] },
    { topics: [[TOKEN_EVENTS.transferSingle, TOKEN_EVENTS.transferBatch], null, null, owner] },
  ];
}

/** Transfers from the newest epoch down; `more` if the requests are used up before the chain is searched. */
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
    const range = { fromEpoch: toQuantity(from), toEpoch: toQuantity(to) };
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
      for (const log of logs.reverse()) found.push(...getTransfers(log, networkId));
    }
    if (refused) {
      if (from === to) throw new NodeTroubleError('the nodes refuse the logs of a single epoch');
      refusedWidth = to - from + 1;
      width = Math.max(1, Math.floor(refusedWidth / SHRINKING));
      continue;
    }
    yield* found.sort((a, b) => b.epoch - a.epoch);
    to = from - 1;
    // A refused size is not requested again.
    if (width * GROWTH < refusedWidth) width *= GROWTH;
  }
}

/**
 * Asks contracts whether a token is still an owner's; which call each for its standard once. A token stays if no
 * upstream can call its contract: such a token, which anybody can send, must not hide the others.
 */
function createOwnership(
  node: CoreNode,
  ownerHex: string,
  signal: AbortSignal,
): (token: TransferredToken) => Promise<boolean> {
  const dead = new Set<string>();
  const standards = createStandards(node, signal);
  return async ({ contract, tokenId }) => {
    if (dead.has(contract)) return true;
    try {
      const standard = await standards(contract);
      if (standard === null) return false;
      return await isOwnedBy(node, { contract, tokenId, standard }, ownerHex, signal);
    } catch (error) {
      if (!(error instanceof NodeTroubleError) || dead.size === MAX_DEAD) throw error;
      dead.add(contract);
      return true;
    }
  };
}

/** The tokens that a log reports as transferred; none if it is another event or not well formed. */
function getTransfers(log: unknown, networkId: number): TransferredToken[] {
  const { address, topics, data, epochNumber } = (log ?? {}) as Record<string, unknown>;
  if (typeof address !== 'string' || checkCoreAddress(networkId)(address) !== null) return [];
  if (!Array.isArray(topics) || topics.length !== 4 || typeof data !== 'string') return [];
  const contract = canonicalCoreAddress(address);
  const epoch = typeof epochNumber === 'string' ? Number(epochNumber) || 0 : 0;
  return getIds(topics, data).map((id) => ({ contract, tokenId: toQuantity(id), epoch }));
}

function getIds(topics: readonly unknown[], data: string): bigint[] {
  const [event, , , last] = topics;
  if (event === TOKEN_EVENTS.transfer) {
    return typeof last === 'string' && /^0x[0-9a-f]{64}$/i.test(last) ? [BigInt(last)] : [];
  }
  if (event === TOKEN_EVENTS.transferBatch) return decodeUints(data, 0, MAX_BATCH);
  const id = event === TOKEN_EVENTS.transferSingle ? decodeUint(data) : null;
  return id === null ? [] : [id];
}
