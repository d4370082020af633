import {
  blockNeeded,
  blockOrHash,
  type Check,
  checkParams,
  nameBlock,
  toBlockNumber,
} from '../rpc/check-params.js';
import { type Expected, RecordCheck } from '../rpc/check-records.js';
import type { Prepared, RpcMethod } from '../rpc/method.js';

/** A read whose parameters are checked here, so that a client's mistake costs no upstream request. */
export function read(
  name: string,
  checks: readonly Check[],
  more: {
    cost?: number;
    blockAt?: number;
    /** Number of parameters that must be there; default all. */
    required?: number;
    newest?: true;
    /** The answer is about the newest block. */
    atTip?: true;
    getAbout?: (result: Buffer) => number | null;
    /** The number of the block in a result for `latest`. */
    resultBlock?: (result: Buffer) => number | null;
    /** It reads every contract of a block; default: it is about none. */
    ofAllContracts?: true;
    /** It is a look-up. */
    repeats?: Repeats;
    /** A list of what each transaction of a block has: an empty one is compared with the block's header. */
    listOfBlock?: true;
  } = {},
): RpcMethod {
  const { cost = 1, blockAt, required, newest, atTip = newest, getAbout, repeats, resultBlock } = more;
  const contracts = more.ofAllContracts === true ? undefined : 'none';
  return {
    name,
    cost,
    idempotent: true,
    contracts,
    getResultBlock: getAbout,
    crossCheck: newest ? 'head' : repeats && 'existence',
    pinsTags: blockAt !== undefined,
    prepare(params): Prepared {
      checkParams(params, checks, required);
      if (atTip) return { checkedRead: true, block: 'tip' };
      return {
        checkedRead: true,
        ...(blockAt === undefined ? {} : getBlockFacts(params[blockAt])),
        check: repeats && repeatsFirst(params[0], repeats),
        list: more.listOfBlock && { of: 'receipts', block: nameBlock(params[0]) },
        resultBlock: blockAt !== undefined && params[blockAt] === 'latest' ? resultBlock : undefined,
      };
    },
  };
}

/** The block that an answer for this parameter needs, and is about. */
function getBlockFacts(parameter: unknown): Pick<Prepared, 'block' | 'aboutBlock'> {
  return { block: blockNeeded(parameter), aboutBlock: toBlockNumber(parameter) };
}

/** The block of a transaction or receipt; a pending one has none. */
export const blockOfResult = (result: Buffer): number | null => quantityIn(result, '"blockNumber"');

/** The number of a block. Its transactions, first in some nodes' answers, have it under another name. */
export const numberOfResult = (result: Buffer): number | null => quantityIn(result, '"number"');

function quantityIn(result: Buffer, field: string): number | null {
  const at = result.indexOf(field);
  if (at === -1) return null;
  const text = result.toString('latin1', at + field.length, at + field.length + 40);
  const found = /^\s*:\s*"(0x[0-9a-f]{1,13})"/.exec(text)?.[1];
  return found === undefined ? null : Number(found);
}

/** What a look-up repeats of its first parameter. */
interface Repeats {
  /** The field with the number, and with the hash. */
  number?: 'number' | 'blockNumber';
  hash?: 'hash' | 'blockHash' | 'transactionHash';
  /** All records are of one block. */
  ofBlock?: true;
  logs?: true;
}

/**
 * The check that a result is about the number or hash that was asked for. In its own fields a block or transaction says that
 * once; every record in it with `blockNumber`, `blockHash` or `transactionHash` has to say it too.
 */
function repeatsFirst(first: unknown, { logs, number: field, hash, ofBlock }: Repeats): Prepared['check'] {
  const block = toBlockNumber(first);
  const named =
    typeof first === 'object' && first !== null ? (first as { blockHash?: unknown }).blockHash : first;
  const value = typeof named === 'string' && named.length === 66 ? named.toLowerCase() : undefined;
  const every = hash === 'hash' && ofBlock ? 'blockHash' : hash;
  const expected: Expected = {
    beginning: (bytes) =>
      (block === undefined || field !== 'number' || repeatsNumber(bytes, block)) &&
      (value === undefined || hash !== 'hash' || repeatsHash(bytes, value)),
    logs,
    oneBlock: ofBlock,
    blocks: block === undefined || field === undefined ? undefined : { from: block, to: block },
    hash:
      value === undefined || every === undefined || every === 'hash' ? undefined : { field: every, value },
  };
  return () => new RecordCheck(expected);
}

/** A result without the field is left to the client. */
function repeatsNumber(result: Buffer, number: number): boolean {
  const found = quantityIn(result, '"number"');
  return found === null || found === number;
}

/** As `repeatsNumber`. Transactions may come before the hash of their block: one that is right is enough. */
function repeatsHash(result: Buffer, hash: string): boolean {
  const field = '"hash"';
  let contradicted = false;
  for (let at = result.indexOf(field); at !== -1; at = result.indexOf(field, at + field.length)) {
    const text = result.toString('latin1', at + field.length, at + field.length + 80);
    const found = /^\s*:\s*"(0x[0-9a-f]{64})"/i.exec(text)?.[1];
    if (found?.toLowerCase() === hash) return true;
    contradicted ||= found !== undefined;
  }
  return !contradicted;
}

/** A read of state: its last parameter is the block, which clients omit and nodes older than geth 1.13 require. */
export function stateRead(name: string, checks: readonly Check[], cost = 1): RpcMethod {
  return {
    name,
    cost,
    idempotent: true,
    contracts: ([account]) => [account],
    pinsTags: true,
    prepare(params): Prepared {
      checkParams(params, [...checks, blockOrHash], checks.length);
      const at = params[checks.length] ?? 'latest';
      const text = JSON.stringify([...params.slice(0, checks.length), at]);
      return { checkedRead: true, params: text, ...getBlockFacts(at) };
    },
  };
}
