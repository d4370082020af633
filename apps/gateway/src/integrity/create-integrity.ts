import {
  type BareBlock,
  createProver,
  type ProofPolicy,
  type ProvedBlock,
  type Prover,
} from '@packhouse/chain';
import { type Network, nodeMethod } from '@packhouse/networks';
import type { Disproof, Forwarder } from '@packhouse/node-rpc';
import { type CallSignal, isPackhouseError } from '@packhouse/runtime';
import { LRUCache } from 'lru-cache';
import type { LogFilter } from '../rpc/log-filter.js';
import type { Integrity } from '../rpc/method.js';
import { type BlockLogs, checkLogs } from './check-logs.js';
import { checkReceipt, type Receipt } from './check-receipt.js';

type Proving = NonNullable<ReturnType<Integrity['proofOf']>>;

/** Bytes of an answer that is proved at most: it is parsed at once, into some ten times as much. */
const MOST_PROVED_BYTES = 33_554_432;
/** Blocks of a log range that is proved at most: each may cost three requests. */
const MOST_LOG_BLOCKS = 16;
/** Proved headers that are remembered, some 700 bytes each. */
const REMEMBERED = 1_024;

interface IntegrityParts {
  policy: ProofPolicy;
  forwarder: Pick<Forwarder, 'call' | 'finalized' | 'head'>;
  rpc: Pick<Network['rpc'], 'aliases' | 'maxAnswerBytes' | 'timeoutMs'>;
}

/**
 * Creates the proofs of a network with `integrity: full`. What a result needs is asked from any upstream by hash, and is
 * proved itself; a block that cannot be had disproves nothing, but its answer is not passed on.
 */
export function createIntegrity({ policy, forwarder, rpc }: IntegrityParts): Integrity {
  const { timeoutMs } = rpc;
  const mostBytes = Math.min(rpc.maxAnswerBytes, MOST_PROVED_BYTES);
  let creating: Promise<Prover> | undefined;
  const proverOf = (): Promise<Prover> => {
    creating ??= createProver(policy);
    return creating;
  };
  const headers = new LRUCache<string, BareBlock>({ max: REMEMBERED });

  /** Asks for what a proof needs; undefined if no upstream has it. */
  const evidence = async (
    method: string,
    params: readonly unknown[],
    signal: CallSignal,
    prove: Proving,
  ): Promise<unknown> => {
    const answer = await forwarder.call({
      ...{
        method: nodeMethod(method, rpc.aliases),
        params: JSON.stringify(params),
        prove,
        signal,
        timeoutMs,
      },
      ...{ idempotent: true, whole: true, asks: 'whether', maxBytes: mostBytes },
    });
    return answer.kind === 'result' ? (parsed(answer.body.bytes) ?? undefined) : undefined;
  };

  /** A block by number or hash, whole. */
  const blockBy = (at: string, signal: CallSignal): Promise<unknown> => {
    const params = [at, true];
    return evidence(blockMethod(at), params, signal, blockProof(params));
  };

  const headerBy = async (at: string, signal: CallSignal): Promise<BareBlock | undefined> => {
    const known = headers.get(at);
    if (known !== undefined) return known;
    const params = [at, false];
    let header: BareBlock | undefined;
    await evidence(
      blockMethod(at),
      params,
      signal,
      blockProof(params, (proved) => {
        header = proved;
      }),
    );
    if (header !== undefined) {
      headers.set(header.hash, header);
      if (isFinal(header.number)) headers.set(hex(header.number), header);
    }
    return header;
  };

  const isFinal = (number: number): boolean => number <= (forwarder.finalized() ?? -1);

  const blockProof =
    ([at, full]: readonly unknown[], proved?: (block: BareBlock) => void): Proving =>
    async (result) => {
      const prover = await proverOf();
      const block = parsed(result);
      return disproving(() => {
        if (block === null) return null;
        const found =
          full === true ? { ...prover.proveBlock({ block }), logsBloom: null } : prover.proveBareBlock(block);
        const isOther = isNumber(at)
          ? found.number !== Number(at)
          : isHash(at) && found.hash !== at.toLowerCase();
        if (isOther) return `it is block ${found.number} ${found.hash} instead of ${String(at)}`;
        if (full !== true) proved?.(found);
        return null;
      });
    };

  /** Receipts of a block; `by`: its number, hash or tag. */
  const receiptsProof =
    (by: unknown, proved?: (block: ProvedBlock) => void): Proving =>
    async (result, signal) => {
      const prover = await proverOf();
      const receipts = parsed(result);
      if (receipts === null) return null;
      if (!Array.isArray(receipts)) return { isFalse: true, why: 'it is no list of receipts' };
      const named = isHash(by) ? by : (receipts[0] as Receipt | null | undefined)?.blockHash;
      // Nobody knows which block of a tag the node had in mind.
      if (!isHash(named) && !isNumber(by)) return null;
      const block = await blockBy(isHash(named) ? named : (by as string), signal);
      if (block === undefined) return lacking(isHash(named) ? named : (by as string));
      return disproving(
        () => {
          const found = prover.proveBlock({ block, receipts });
          if (isNumber(by) && found.number !== Number(by)) return `they are of block ${found.number}`;
          proved?.(found);
          return null;
        },
        isHash(named) || isFinal(Number(by)),
      );
    };

  const receiptProof =
    (transaction: unknown): Proving =>
    async (result, signal) => {
      const prover = await proverOf();
      const receipt = parsed(result) as Receipt | null | undefined;
      if (receipt === null) return null;
      if (!isHash(receipt?.blockHash)) return { isFalse: true, why: 'it names no block' };
      const header = await headerBy(receipt.blockHash.toLowerCase(), signal);
      if (header === undefined) return lacking(receipt.blockHash);
      return disproving(() => checkReceipt(prover, receipt, header, String(transaction).toLowerCase()));
    };

  /** Logs of a block, from its proved receipts; undefined if nobody has them, null if its rules do not prove them. */
  const logsOf = async (header: BareBlock, signal: CallSignal): Promise<BlockLogs | null | undefined> => {
    let block: ProvedBlock | undefined;
    const ask = (by: string): Promise<unknown> => {
      const proof = receiptsProof(by, (proved) => {
        block = proved;
      });
      return evidence('eth_getBlockReceipts', [by], signal, proof);
    };
    // An abandoned block is found by its hash only, which not every node takes here.
    const byHash = isFinal(header.number) ? undefined : await ask(header.hash);
    const receipts = (byHash ?? (await ask(hex(header.number)))) as Receipt[] | undefined;
    if (receipts === undefined || block?.hash !== header.hash) return undefined;
    if (block.notProved.some(({ proof: of }) => of === 'receiptsRoot' || of === 'transactionsRoot'))
      return null;
    return receipts.flatMap(({ logs }) => logs as BlockLogs);
  };

  const logsProof =
    (filter: LogFilter, blocks: readonly string[]): Proving =>
    async (result, signal) => {
      const prover = await proverOf();
      return checkLogs(parsed(result), filter, blocks, {
        bloomOf: prover.bloomOf,
        headerBy: (at) => headerBy(at, signal),
        logsOf: (header) => logsOf(header, signal),
        isFinal,
        isBeyondHead: (number) => number > (forwarder.head() ?? Number.POSITIVE_INFINITY),
      });
    };

  return {
    mostBytes,
    proofOf(method, text) {
      const make = PROVED[method];
      if (make === undefined) return undefined;
      const params = JSON.parse(text) as unknown[];
      const first = params[0];
      if (first === 'pending') return undefined;
      switch (make) {
        case 'block':
          return blockProof(params);
        case 'receipts':
          return receiptsProof(blockNamed(first));
        case 'receipt':
          return receiptProof(first);
        case 'logs': {
          const blocks = blocksOf(first as LogFilter);
          return blocks === null ? undefined : logsProof(first as LogFilter, blocks);
        }
      }
    },
  };
}

const PROVED: Readonly<Record<string, 'block' | 'receipts' | 'receipt' | 'logs'>> = {
  eth_getBlockByNumber: 'block',
  eth_getBlockByHash: 'block',
  eth_getBlockReceipts: 'receipts',
  eth_getTransactionReceipt: 'receipt',
  eth_getLogs: 'logs',
};

/** The blocks of a filter, by hash or number; null if they are too many, or depend on the head. */
function blocksOf({ blockHash, fromBlock, toBlock }: LogFilter): readonly string[] | null {
  if (blockHash !== undefined) return [blockHash];
  if (!isNumber(fromBlock) || !isNumber(toBlock)) return null;
  const [from, to] = [Number(fromBlock), Number(toBlock)];
  if (to < from || to - from >= MOST_LOG_BLOCKS) return null;
  return Array.from({ length: to - from + 1 }, (_, at) => hex(from + at));
}

/** A number, hash or tag, also of `{blockHash}` or `{blockNumber}` (EIP-1898). */
function blockNamed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { blockHash, blockNumber } = value as Record<string, unknown>;
  return blockHash ?? blockNumber;
}

function blockMethod(at: string): string {
  return isHash(at) ? 'eth_getBlockByHash' : 'eth_getBlockByNumber';
}

function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value);
}

function isNumber(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-f]{1,13}$/i.test(value);
}

function hex(number: number): string {
  return `0x${number.toString(16)}`;
}

/** A result as JSON; a text that is none is found false by what reads it. */
function parsed(result: Buffer): unknown {
  try {
    return JSON.parse(result.toString('utf8'));
  } catch {
    return undefined;
  }
}

function lacking(block: string): Disproof {
  return { isFalse: false, why: `block ${block} could not be had from any node for the proof` };
}

/**
 * What a check finds: a sentence, or what the prover throws. If the check is not `sure`, the node may know another branch.
 * Fields of a fork that this version does not know are not the node's fault.
 */
function disproving(check: () => string | null, sure = true): Disproof | null {
  try {
    const why = check();
    return why === null ? null : { isFalse: sure, why };
  } catch (error) {
    if (!isPackhouseError(error, 'PROOF_FAILED') && !isPackhouseError(error, 'RECORD_INVALID')) throw error;
    return { isFalse: sure && error.data.unknownFields === undefined, why: error.message };
  }
}
