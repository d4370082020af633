import { type BareBlock, type ProvedBlock, toQuantity } from '@packhouse/chain';
import type { CallSignal } from '@packhouse/runtime';
import { nameBlock } from '../rpc/check-params.js';
import type { LogFilter } from '../rpc/log-filter.js';
import type { Integrity } from '../rpc/method.js';
import {
  createBlockEvidence,
  findDisproof,
  type IntegrityParts,
  isHash,
  isNumber,
  missingBlock,
  type Prove,
  parseResult,
} from './block-evidence.js';
import { type BlockLogs, checkLogs, checkReceipt, type Receipt } from './check-logs.js';

/** Bytes of an answer that is proved at most: it is parsed at once, into some ten times as much. */
const MAX_PROVED_BYTES = 33_554_432;
/** Blocks of a log range that is proved at most: each may cost three requests. */
const MAX_LOG_BLOCKS = 16;

/**
 * Creates the proofs of a network with `integrity: full`. What a result needs is asked from any upstream by hash, and is
 * proved itself; a block that no node has disproves nothing, but its answer is not passed on.
 */
export function createIntegrity(parts: IntegrityParts): Integrity {
  const { forwarder, rpc } = parts;
  const maxBytes = Math.min(rpc.maxAnswerBytes, MAX_PROVED_BYTES);
  const evidence = createBlockEvidence(parts, maxBytes);
  const { getProver, getBlock, getHeader, isFinal } = evidence;

  /** Receipts of a block; `by`: its number, hash or tag. */
  const proveReceipts =
    (by: unknown, proved?: (block: ProvedBlock) => void): Prove =>
    async (result, signal) => {
      const prover = await getProver();
      const receipts = parseResult(result);
      if (receipts === null) return null;
      if (!Array.isArray(receipts)) return { isFalse: true, reason: 'it is not a list of receipts' };
      const named = isHash(by) ? by : (receipts[0] as Receipt | null | undefined)?.blockHash;
      // Nobody knows which block of a tag the node had in mind.
      if (!isHash(named) && !isNumber(by)) return null;
      const block = await getBlock(isHash(named) ? named : (by as string), signal);
      if (block === undefined) return missingBlock(isHash(named) ? named : (by as string));
      return findDisproof(
        () => {
          // Its senders were proved when it was fetched.
          const found = prover.proveBlock({ block, receipts }, { later: true });
          if (isNumber(by) && found.number !== Number(by)) return `they belong to block ${found.number}`;
          proved?.(found);
          return null;
        },
        isHash(named) || isFinal(Number(by)),
      );
    };

  const proveReceipt =
    (transaction: unknown): Prove =>
    async (result, signal) => {
      const prover = await getProver();
      const receipt = parseResult(result) as Receipt | null | undefined;
      if (receipt === null) return null;
      if (!isHash(receipt?.blockHash)) return { isFalse: true, reason: 'it names no block' };
      const header = await getHeader(receipt.blockHash.toLowerCase(), signal);
      if (header === undefined) return missingBlock(receipt.blockHash);
      return findDisproof(() => checkReceipt(prover, receipt, header, String(transaction).toLowerCase()));
    };

  /** Logs of a block, from its proved receipts; undefined if nobody has them, null if its rules do not prove them. */
  const getLogs = async (header: BareBlock, signal: CallSignal): Promise<BlockLogs | null | undefined> => {
    let block: ProvedBlock | undefined;
    const ask = (by: string): Promise<unknown> => {
      const proof = proveReceipts(by, (proved) => {
        block = proved;
      });
      return evidence.fetch('eth_getBlockReceipts', [by], signal, proof);
    };
    // An abandoned block is found by its hash only, which not every node takes here.
    const byHash = isFinal(header.number) ? undefined : await ask(header.hash);
    const receipts = (byHash ?? (await ask(toQuantity(header.number)))) as Receipt[] | undefined;
    if (receipts === undefined || block?.hash !== header.hash) return undefined;
    if (block.notProved.some(({ proof: of }) => of === 'receiptsRoot' || of === 'transactionsRoot'))
      return null;
    return receipts.flatMap(({ logs }) => logs as BlockLogs);
  };

  const proveLogs = (filter: LogFilter): Prove | undefined => {
    const blocks = toBlocks(filter);
    if (blocks === null) return undefined;
    return async (result, signal) => {
      const prover = await getProver();
      return checkLogs(parseResult(result), filter, blocks, {
        getBloom: prover.getBloom,
        getHeader: (at) => getHeader(at, signal),
        getLogs: (header) => getLogs(header, signal),
        isFinal,
        isBeyondHead: (number) => number > (forwarder.head() ?? Number.POSITIVE_INFINITY),
      });
    };
  };

  const makers = new Map<string, (params: readonly unknown[]) => Prove | undefined>([
    ['eth_getBlockByNumber', (params) => evidence.proveBlock(params)],
    ['eth_getBlockByHash', (params) => evidence.proveBlock(params)],
    ['eth_getBlockReceipts', ([block]) => proveReceipts(nameBlock(block))],
    ['eth_getTransactionReceipt', ([hash]) => proveReceipt(hash)],
    ['eth_getLogs', ([filter]) => proveLogs(filter as LogFilter)],
  ]);
  return {
    maxBytes,
    getProof(method, text) {
      const make = makers.get(method);
      if (make === undefined) return undefined;
      const params = JSON.parse(text) as unknown[];
      return params[0] === 'pending' ? undefined : make(params);
    },
  };
}

/** The blocks of a filter, by hash or number; null if they are too many, or depend on the head. */
function toBlocks({ blockHash, fromBlock, toBlock }: LogFilter): readonly string[] | null {
  if (blockHash !== undefined) return [blockHash];
  if (!isNumber(fromBlock) || !isNumber(toBlock)) return null;
  const [from, to] = [Number(fromBlock), Number(toBlock)];
  if (to < from || to - from >= MAX_LOG_BLOCKS) return null;
  return Array.from({ length: to - from + 1 }, (_, at) => toQuantity(from + at));
}
