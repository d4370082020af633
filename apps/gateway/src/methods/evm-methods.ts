import {
  address,
  blockNeeded,
  blockNumberOf,
  blockOrHash,
  blockParameter,
  type Check,
  checkParams,
  flag,
  hash,
  quantity,
  storagePosition,
} from '../rpc/check-params.js';
import type { Prepared, RpcMethod } from '../rpc/method.js';
import { createLearntRanges } from '../rpc/split-logs.js';
import { ethCall } from './eth-call.js';
import { ethGetLogs } from './eth-get-logs.js';
import type { MethodParts } from './filter-methods.js';
import { filterMethods } from './filter-methods.js';

/** A read whose parameters are checked here, so that a client's mistake costs no upstream request. */
function read(
  name: string,
  checks: readonly Check[],
  more: {
    cost?: number;
    blockAt?: number;
    newest?: true;
    aboutOf?: (result: Buffer) => number | null;
    /** Fields of the result that repeat the first parameter: a number, or a hash. */
    repeats?: { number?: string; hash?: string };
  } = {},
): RpcMethod {
  const { cost = 1, blockAt, newest, aboutOf, repeats } = more;
  const asks = newest ? 'head' : repeats && 'whether';
  return {
    name,
    cost,
    idempotent: true,
    ...(aboutOf === undefined ? {} : { aboutOf }),
    ...(asks === undefined ? {} : { asks }),
    prepare(params): Prepared | undefined {
      checkParams(params, checks);
      if (newest) return { block: 'tip' };
      return {
        ...(blockAt === undefined ? {} : aboutBlock(params[blockAt])),
        ...(repeats === undefined ? {} : fitsFirst(params[0], repeats)),
      };
    },
  };
}

/** The block that a parameter asks for. */
function aboutBlock(parameter: unknown): Pick<Prepared, 'block' | 'about'> {
  const block = blockNeeded(parameter);
  const about = blockNumberOf(parameter);
  return { ...(block === undefined ? {} : { block }), ...(about === undefined ? {} : { about }) };
}

/** The block of a transaction or receipt; a pending one has none. */
const blockOfResult = (result: Buffer): number | null => quantityIn(result, '"blockNumber"');

/** The number of a block. Its transactions, first in some nodes' answers, have it under another name. */
const numberOfResult = (result: Buffer): number | null => quantityIn(result, '"number"');

function quantityIn(result: Buffer, field: string): number | null {
  const at = result.indexOf(field);
  if (at === -1) return null;
  const text = result.toString('latin1', at + field.length, at + field.length + 40);
  const found = /^\s*:\s*"(0x[0-9a-f]{1,13})"/.exec(text)?.[1];
  return found === undefined ? null : Number(found);
}

/** The check that a result repeats the number or hash that was asked for; none for tags. */
function fitsFirst(first: unknown, fields: { number?: string; hash?: string }): Pick<Prepared, 'fits'> {
  const number = blockNumberOf(first);
  if (number !== undefined) {
    const { number: field } = fields;
    return field === undefined ? {} : { fits: (result) => repeatsNumber(result, `"${field}"`, number) };
  }
  const named =
    typeof first === 'object' && first !== null ? (first as { blockHash?: unknown }).blockHash : first;
  const { hash: field } = fields;
  if (field === undefined || typeof named !== 'string' || named.length !== 66) return {};
  const wanted = named.toLowerCase();
  return { fits: (result) => repeatsHash(result, `"${field}"`, wanted) };
}

/** A result without the field is left to the client. */
function repeatsNumber(result: Buffer, field: string, number: number): boolean {
  const found = quantityIn(result, field);
  return found === null || found === number;
}

/** As `repeatsNumber`. Transactions may come before the hash of their block: one that is right is enough. */
function repeatsHash(result: Buffer, field: string, wanted: string): boolean {
  let contradicted = false;
  for (let at = result.indexOf(field); at !== -1; at = result.indexOf(field, at + field.length)) {
    const text = result.toString('latin1', at + field.length, at + field.length + 80);
    const found = /^\s*:\s*"(0x[0-9a-f]{64})"/i.exec(text)?.[1];
    if (found?.toLowerCase() === wanted) return true;
    contradicted ||= found !== undefined;
  }
  return !contradicted;
}

/** Nodes older than geth 1.13 require the block, which clients omit. */
const storageAt: RpcMethod = {
  name: 'eth_getStorageAt',
  cost: 1,
  idempotent: true,
  prepare(params): Prepared {
    checkParams(params, [address, storagePosition, blockOrHash], 2);
    return {
      params: JSON.stringify([params[0], params[1], params[2] ?? 'latest']),
      ...aboutBlock(params[2]),
    };
  },
};

const IN_BLOCK = { number: 'blockNumber', hash: 'blockHash' };

/** Reads that any node answers. */
const READS: readonly RpcMethod[] = [
  read('eth_blockNumber', [], { newest: true }),
  read('eth_chainId', []),
  read('net_version', []),
  read('eth_getBlockByNumber', [blockParameter, flag], { blockAt: 0, repeats: { number: 'number' } }),
  read('eth_getBlockByHash', [hash, flag], { aboutOf: numberOfResult, repeats: { hash: 'hash' } }),
  read('eth_getBlockReceipts', [blockOrHash], { cost: 5, blockAt: 0, repeats: IN_BLOCK }),
  read('eth_getTransactionByHash', [hash], { aboutOf: blockOfResult, repeats: { hash: 'hash' } }),
  read('eth_getTransactionByBlockNumberAndIndex', [blockParameter, quantity], {
    ...{ blockAt: 0, repeats: IN_BLOCK },
  }),
  read('eth_getTransactionByBlockHashAndIndex', [hash, quantity], {
    ...{ aboutOf: blockOfResult, repeats: IN_BLOCK },
  }),
  read('eth_getTransactionReceipt', [hash], {
    ...{ aboutOf: blockOfResult, repeats: { hash: 'transactionHash' } },
  }),
  storageAt,
];

/** The methods of EVM networks. */
export function evmMethods(parts: MethodParts): RpcMethod[] {
  const learnt = createLearntRanges(parts.now);
  const getLogs = ethGetLogs(learnt);
  return [...READS, ethCall(), getLogs, ...filterMethods(parts, getLogs, learnt)];
}
