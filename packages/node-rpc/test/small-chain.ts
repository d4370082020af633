import { createHash } from 'node:crypto';
import { toQuantity } from '@packhouse/chain';
import { type Handler, RpcError, type SeenCall } from './scripted-node.js';

/** The shape of a made-up chain, and the methods that its node has. */
export interface SmallChain {
  head: number;
  chainId: number;
  finalized: number | null;
  /** Transactions in a block. */
  transactions(number: number): number;
  difficulty: string;
  /** Text added to every block, to set its length. */
  extraData(number: number): string;
  without: Set<string>;
  /** Blocks from this one up are those of another branch. */
  branch: { from: number; name: string } | null;
}

const hash = (text: string): string => `0x${createHash('sha256').update(text).digest('hex')}`;

/** A chain of 1,000 blocks without transactions, before the merge, unless told otherwise. */
export function smallChain(changes: Partial<SmallChain> = {}): SmallChain {
  return {
    head: 999,
    chainId: 1,
    finalized: 900,
    transactions: () => 0,
    difficulty: '0x400000000',
    extraData: () => '0x',
    without: new Set(),
    branch: null,
    ...changes,
  };
}

export function getBlockHash(number: number): string {
  return hash(`block ${number}`);
}

/** The hash of a block on the branch that the chain follows. */
export function hashOn({ branch }: Pick<SmallChain, 'branch'>, number: number): string {
  return branch !== null && number >= branch.from ? hash(`${branch.name} ${number}`) : getBlockHash(number);
}

export function getTransactionHash(number: number, index: number): string {
  return hash(`transaction ${number} ${index}`);
}

function toBlock(chain: SmallChain, number: number, full: boolean): Record<string, unknown> {
  const transactions = Array.from({ length: chain.transactions(number) }, (_, index) =>
    full
      ? {
          hash: getTransactionHash(number, index),
          blockNumber: toQuantity(number),
          transactionIndex: toQuantity(index),
        }
      : getTransactionHash(number, index),
  );
  return {
    number: toQuantity(number),
    hash: hashOn(chain, number),
    parentHash: hashOn(chain, number - 1),
    difficulty: chain.difficulty,
    extraData: chain.extraData(number),
    transactions,
  };
}

export function toReceipts(chain: SmallChain, number: number): Record<string, unknown>[] {
  return Array.from({ length: chain.transactions(number) }, (_, index) => ({
    blockHash: getBlockHash(number),
    blockNumber: toQuantity(number),
    transactionHash: getTransactionHash(number, index),
    transactionIndex: toQuantity(index),
    status: '0x1',
    logs: [],
  }));
}

export function toTraces(chain: SmallChain, number: number): Record<string, unknown>[] {
  const traces: Record<string, unknown>[] = Array.from(
    { length: chain.transactions(number) },
    (_, index) => ({
      action: { callType: 'call', from: '0x01', to: '0x02', gas: '0x0', input: '0x', value: '0x1' },
      blockHash: getBlockHash(number),
      blockNumber: number,
      result: { gasUsed: '0x0', output: '0x' },
      subtraces: 0,
      traceAddress: [],
      transactionHash: getTransactionHash(number, index),
      transactionPosition: index,
      type: 'call',
    }),
  );
  if (chain.difficulty !== '0x0') {
    traces.push({
      action: { author: '0x03', rewardType: 'block', value: '0x4563918244f40000' },
      blockHash: getBlockHash(number),
      blockNumber: number,
      result: null,
      subtraces: 0,
      traceAddress: [],
      type: 'reward',
    });
  }
  return traces;
}

/** A node of that chain; `chain` is read at every call, so tests may change it. */
export function serveChain(chain: SmallChain): Handler {
  const toNumber = (key: unknown): number | null => {
    if (typeof key === 'object' && key !== null && 'blockHash' in key) return toNumber(key.blockHash);
    if (typeof key !== 'string') throw new RpcError(-32602, 'invalid argument 0');
    if (key === 'latest') return chain.head;
    if (key === 'finalized') return chain.finalized;
    if (key.length === 66) {
      for (let number = 0; number <= chain.head; number += 1) if (getBlockHash(number) === key) return number;
      return null;
    }
    const number = Number(key);
    return number <= chain.head ? number : null;
  };
  return (call: SeenCall) => {
    if (chain.without.has(call.method)) {
      throw new RpcError(-32601, `the method ${call.method} does not exist/is not available`);
    }
    if (call.method === 'web3_clientVersion') return 'SmallChain/v1.0.0';
    const number = call.method === 'eth_chainId' ? 0 : toNumber(call.params[0]);
    switch (call.method) {
      case 'eth_chainId':
        return toQuantity(chain.chainId);
      case 'eth_getBlockByNumber':
        return number === null ? null : toBlock(chain, number, call.params[1] === true);
      case 'eth_getBlockReceipts':
        return number === null ? null : toReceipts(chain, number);
      case 'trace_block':
        return number === null ? null : toTraces(chain, number);
      default:
        throw new RpcError(-32601, `the method ${call.method} does not exist/is not available`);
    }
  };
}
