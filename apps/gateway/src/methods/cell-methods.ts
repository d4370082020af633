import { CallController } from '@packhouse/runtime';
import { createTtlCache } from '../cache/ttl-cache.js';
import { Problem } from '../http/problem.js';
import { askWhole, UpstreamRpcError } from '../rpc/ask-node.js';
import {
  anything,
  type Check,
  checkParams,
  data,
  describeType,
  hash,
  invalidParams,
  isAbsent,
  isObject,
  quantity,
} from '../rpc/check-params.js';
import { type CallContext, type RpcAnswer, type RpcMethod, toResult } from '../rpc/method.js';
import type { MethodParts } from './filter-methods.js';

const VALIDATORS = ['well_known_scripts_only', 'passthrough'];
/** PoolRejectedDuplicatedTransaction (ckb, rpc/src/error.rs). */
const ALREADY_IN_POOL = -1107;
const CONSENSUS_TTL_MS = 60_000;

/** Methods of the cell family: sending a transaction, and the consensus parameters. */
export function cellMethods(parts: Pick<MethodParts, 'elapsed'>): RpcMethod[] {
  return [sendTransaction, getConsensus(parts)];
}

/**
 * `send_transaction`. If an upstream breaks off, or does not answer in half of the time, it may have the transaction.
 * So the transaction is sent once more; an error that says it is there already counts as success. If that error does
 * not name the transaction, its hash is not known here, and the client gets the error.
 */
const sendTransaction: RpcMethod = {
  name: 'send_transaction',
  cost: 10,
  idempotent: false,
  async handle(call, caller) {
    checkParams(call.params, [anything, anything], 1);
    const [transaction, validator = null] = call.params;
    checkCellTransaction(transaction);
    if (validator !== null && (typeof validator !== 'string' || !VALIDATORS.includes(validator))) {
      throw invalidParams(`invalid argument 1: expected one of ${VALIDATORS.join(', ')}`, 1);
    }
    const params = JSON.stringify([transaction, validator ?? VALIDATORS[0]]);
    const request = { method: 'send_transaction', params, idempotent: false };
    try {
      const { timeoutMs } = caller.network.config.rpc;
      return await askWhole(caller, { ...request, timeoutMs: timeoutMs / 2 });
    } catch (error) {
      if (!(error instanceof Problem) || caller.signal.aborted) throw error;
      const again = await askWhole(caller, request);
      const known = again.kind === 'error' && again.code === ALREADY_IN_POOL ? hashIn(again.error) : null;
      return known === null ? again : toResult(`"${known}"`);
    }
  },
};

/** The error names the transaction in message or data: `Transaction(Byte32(0x…)) already exists in …`. */
function hashIn(error: Buffer): string | null {
  return /0x[0-9a-f]{64}\b/.exec(error.toString('utf8'))?.[0] ?? null;
}

/** `get_consensus`, asked once a minute, since it is the same for months. */
function getConsensus({ elapsed }: Pick<MethodParts, 'elapsed'>): RpcMethod {
  const recent = createTtlCache({ elapsed }, CONSENSUS_TTL_MS, 1);
  const ask = async ({ network }: CallContext): Promise<RpcAnswer> => {
    // Without a client's signal: the first client may go away while others wait for the same answer.
    const done = new CallController();
    const answer = await askWhole(
      { network, key: undefined, signal: done },
      { method: 'get_consensus', params: '[]' },
    ).finally(() => done.abort(new Error('it is answered')));
    if (answer.kind === 'error') throw new UpstreamRpcError(answer.error);
    return answer;
  };
  return {
    name: 'get_consensus',
    cost: 1,
    idempotent: true,
    async handle(call, caller) {
      checkParams(call.params, []);
      return recent('', () => ask(caller));
    },
  };
}

/** Checks a value at a path; throws the problem `params-invalid`, which names the path. */
type Shape = (value: unknown, path: string) => void;

const MAX_ITEMS = 10_000;

function by(check: Check): Shape {
  return (value, path) => {
    const wrong = check(value);
    if (wrong !== null) refuse(path, wrong);
  };
}

function oneOf(...words: string[]): Shape {
  return (value, path) => {
    if (typeof value !== 'string' || !words.includes(value))
      refuse(path, `expected one of ${words.join(', ')}`);
  };
}

function list(each: Shape): Shape {
  return (value, path) => {
    if (!Array.isArray(value)) return refuse(path, `expected an array, got ${describeType(value)}`);
    if (value.length > MAX_ITEMS) refuse(path, `${value.length} items, at most ${MAX_ITEMS}`);
    for (const [at, item] of value.entries()) each(item, `${path}[${at}]`);
  };
}

/** `optional` fields may be absent or null. */
function object(fields: Record<string, Shape>, optional: Record<string, Shape> = {}): Shape {
  return (value, path) => {
    if (!isObject(value)) return refuse(path, `expected an object, got ${describeType(value)}`);
    for (const [name, shape] of Object.entries(fields)) {
      if (value[name] === undefined) refuse(`${path}.${name}`, 'is missing');
      shape(value[name], `${path}.${name}`);
    }
    for (const [name, shape] of Object.entries(optional)) {
      if (!isAbsent(value[name])) shape(value[name], `${path}.${name}`);
    }
    const names = Object.keys({ ...fields, ...optional });
    const unknown = Object.keys(value).some((name) => !names.includes(name));
    if (unknown) refuse(path, `unknown field, expected ${names.join(', ')}`);
  };
}

function refuse(path: string, wrong: string): never {
  throw invalidParams(`invalid argument 0: ${path.replace(/^\.?/, '')}: ${wrong}`, 0);
}

/** A type, or the data under a version of the virtual machine (RFC 32; ckb, ScriptHashType). */
function hashType(value: unknown): string | null {
  const version = typeof value === 'string' ? /^data([1-9]\d{0,2})?$/.exec(value) : null;
  if (value === 'type' || (version !== null && Number(version[1] ?? 0) <= 127)) return null;
  return 'expected one of type, data, data1 to data127';
}

const outPoint = object({ index: by(quantity), tx_hash: by(hash) });
const script = object({
  code_hash: by(hash),
  hash_type: by(hashType),
  args: by(data),
});

const transaction = object({
  cell_deps: list(object({ dep_type: oneOf('code', 'dep_group'), out_point: outPoint })),
  header_deps: list(by(hash)),
  inputs: list(object({ previous_output: outPoint, since: by(quantity) })),
  outputs: list(object({ capacity: by(quantity), lock: script }, { type: script })),
  outputs_data: list(by(data)),
  version: by(quantity),
  witnesses: list(by(data)),
});

/** Checks the transaction of send_transaction field by field: names, hex forms and counts. */
function checkCellTransaction(value: unknown): void {
  transaction(value, 'transaction');
  const { outputs, outputs_data: outputsData } = value as { outputs: unknown[]; outputs_data: unknown[] };
  if (outputs.length !== outputsData.length) {
    refuse('transaction.outputs_data', `${outputsData.length} items for ${outputs.length} outputs`);
  }
}
