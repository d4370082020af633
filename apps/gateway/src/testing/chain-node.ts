import { createHash } from 'node:crypto';
import { toQuantity } from '@packhouse/chain';
import { type ScriptedAnswer, type ScriptedNode, startScriptedNode } from './scripted-node.js';

/** A log in the answer of a chain node. */
export interface ChainLog {
  blockNumber: string;
  blockHash: string;
  logIndex: string;
  data: string;
  removed?: boolean;
}

/** A node with a chain whose blocks have one log each. */
export interface ChainNode {
  node: ScriptedNode;
  head: number;
  alive: boolean;
  /** Puts the node on another branch from this block number on; the newest fork counts. */
  forks: { from: number; branch: string }[];
  /** Characters of each log's data. */
  dataLength: number;
  /** The data of each log cannot be compressed. */
  noise: boolean;
  /** The newest final block. */
  final: number;
  /** It still returns logs of abandoned blocks. */
  keepsDead: boolean;
  /** Overrides an answer; undefined: the chain's answer. */
  instead?: (method: string, first: unknown) => ScriptedAnswer | Promise<ScriptedAnswer> | undefined;
}

/** The hash of a block: a letter for the branch that it began on, and its number. */
export function getHash(number: number, branch = 'a'): string {
  return `0x${branch}${number.toString(16).padStart(63, '0')}`;
}

/** The one log of a block. */
export function toLog(number: number, branch = 'a', dataLength = 2, noise = false): ChainLog {
  const data = noise ? getNoise(getHash(number, branch), dataLength) : '0x'.padEnd(dataLength, '0');
  return { blockNumber: toQuantity(number), blockHash: getHash(number, branch), logIndex: '0x0', data };
}

function getNoise(seed: string, length: number): string {
  const bytes = createHash('shake256', { outputLength: Math.ceil(length / 2) }).update(seed);
  return `0x${bytes.digest('hex')}`.slice(0, length);
}

/** Starts a node whose newest block is 10 and whose final block is 0. */
export async function startChainNode(): Promise<ChainNode> {
  const node = await startScriptedNode();
  const chain: ChainNode = {
    node,
    head: 10,
    final: 0,
    alive: true,
    forks: [],
    dataLength: 2,
    noise: false,
    keepsDead: false,
  };
  const branchAt = (number: number): string =>
    chain.forks.findLast(({ from }) => number >= from)?.branch ?? 'a';
  const log = (number: number, branch = branchAt(number)): ChainLog =>
    toLog(number, branch, chain.dataLength, chain.noise);
  node.answer(({ method, params }) => {
    if (!chain.alive) return 'reset';
    const [first] = params as [string | { blockHash?: string; fromBlock?: string; toBlock?: string }];
    const other = chain.instead?.(method, first);
    if (other !== undefined) return other;
    if (method === 'eth_getBlockByNumber') {
      const number = first === 'latest' ? chain.head : first === 'finalized' ? chain.final : Number(first);
      if (number > chain.head) return { result: null };
      const [hash, parentHash] = [number, number - 1].map((n) => getHash(n, branchAt(n)));
      return { result: { number: toQuantity(number), hash, parentHash } };
    }
    if (method !== 'eth_getLogs' || typeof first === 'string') {
      return { error: { code: -32601, message: 'no' } };
    }
    if (first.blockHash !== undefined) {
      const [branch, number] = [first.blockHash[2] as string, Number(`0x${first.blockHash.slice(3)}`)];
      const has = number <= chain.head && branch === branchAt(number);
      if (!has && !chain.keepsDead) return { error: { code: -32000, message: 'unknown block' } };
      return { result: [log(number, branch)] };
    }
    const [from, to] = [Number(first.fromBlock), Math.min(chain.head, Number(first.toBlock))];
    return { result: Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => log(from + n)) };
  });
  return chain;
}
