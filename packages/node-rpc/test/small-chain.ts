import { createHash } from 'node:crypto';
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
const hex = (value: number): string => `0x${value.toString(16)}`;

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

export function blockHashOf(number: number): string {
  return hash(`block ${number}`);
}

/** The hash of a block on the branch that the chain follows. */
export function hashOn({ branch }: Pick<SmallChain, 'branch'>, number: number): string {
  return branch !== null && number >= branch.from ? hash(`${branch.name} ${number}`) : blockHashOf(number);
}

export function transactionHashOf(number: number, index: number): string {
  return hash(`transaction ${number} ${index}`);
}

function blockOf(chain: SmallChain, number: number, full: boolean): Record<string, unknown> {
  const transactions = Array.from({ length: chain.transactions(number) }, (_, index) =>
    full
      ? { hash: transactionHashOf(number, index), blockNumber: hex(number), transactionIndex: hex(index) }
      : transactionHashOf(number, index),
  );
  return {
    number: hex(number),
    hash: hashOn(chain, number),
    parentHash: hashOn(chain, number - 1),
    difficulty: chain.difficulty,
    extraData: chain.extraData(number),
    transactions,
  };
}

export function receiptsOf(chain: SmallChain, number: number): Record<string, unknown>[] {
  return Array.from({ length: chain.transactions(number) }, (_, index) => ({
    blockHash: blockHashOf(number),
    blockNumber: hex(number),
    transactionHash: transactionHashOf(number, index),
    transactionIndex: hex(index),
    status: '0x1',
    logs: [],
  }));
}

export function tracesOf(chain: SmallChain, number: number): Record<string, unknown>[] {
  const traces: Record<string, unknown>[] = Array.from(
    { length: chain.transactions(number) },
    (_, index) => ({
      action: { callType: 'call', from: '0x01', to: '0x02', gas: '0x0', input: '0x', value: '0x1' },
      blockHash: blockHashOf(number),
      blockNumber: number,
      result: { gasUsed: '0x0', output: '0x' },
      subtraces: 0,
      traceAddress: [],
      transactionHash: transactionHashOf(number, index),
      transactionPosition: index,
      type: 'call',
    }),
  );
  if (chain.difficulty !== '0x0') {
    traces.push({
      action: { author: '0x03', rewardType: 'block', value: '0x4563918244f40000' },
      blockHash: blockHashOf(number),
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
  const numberOf = (key: unknown): number | null => {
    if (typeof key === 'object' && key !== null && 'blockHash' in key) return numberOf(key.blockHash);
    if (typeof key !== 'string') throw new RpcError(-32602, 'invalid argument 0');
    if (key === 'latest') return chain.head;
    if (key === 'finalized') return chain.finalized;
    if (key.length === 66) {
      for (let number = 0; number <= chain.head; number += 1) if (blockHashOf(number) === key) return number;
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
    const number = call.method === 'eth_chainId' ? 0 : numberOf(call.params[0]);
    switch (call.method) {
      case 'eth_chainId':
        return hex(chain.chainId);
      case 'eth_getBlockByNumber':
        return number === null ? null : blockOf(chain, number, call.params[1] === true);
      case 'eth_getBlockReceipts':
        return number === null ? null : receiptsOf(chain, number);
      case 'trace_block':
        return number === null ? null : tracesOf(chain, number);
      default:
        throw new RpcError(-32601, `the method ${call.method} does not exist/is not available`);
    }
  };
}
