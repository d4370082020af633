import { checkCoreAddress } from '@packhouse/chain';
import type { Network } from '@packhouse/networks';
import { createAnswerJointly } from '../rpc/answer-jointly.js';
import { askWhole, failure } from '../rpc/ask-node.js';
import { anything, checkParams, hash, invalidParams, kindOf, quantity } from '../rpc/check-params.js';
import type { CallContext, RpcAnswer, RpcMethod } from '../rpc/method.js';
import { elementsOf } from '../rpc/raw-json.js';

/** Methods of the core family: logs, by epochs and base32 addresses. */
export function coreMethods(): RpcMethod[] {
  const answerJointly = createAnswerJointly();
  return [
    {
      name: 'core_getLogs',
      cost: 5,
      idempotent: true,
      async handle(call, caller) {
        checkParams(call.params, [anything]);
        const filter = readCoreFilter(call.params[0], caller.at.network);
        return answerJointly(call.paramsText, caller, (all) => coreLogs(all, filter));
      },
    },
  ];
}

async function coreLogs(
  caller: CallContext,
  { params, block, limit, offset }: ReturnType<typeof readCoreFilter>,
): Promise<RpcAnswer> {
  const answer = await askWhole(caller, {
    ...{ method: 'core_getLogs', params },
    ...(block === undefined ? {} : { block }),
  });
  if (answer.kind === 'error') return answer;
  if (limit === null && offset === 0) return { kind: 'result', body: answer.body };
  // Current nodes ignore limit and offset. The last `offset` logs are dropped, then the last `limit` kept.
  if (!answer.text.startsWith('[')) {
    throw failure({ reason: 'nonsense', detail: 'a node sent logs that are no list' });
  }
  const logs = elementsOf(answer.text);
  const end = Math.max(0, logs.length - offset);
  const start = limit === null ? 0 : Math.max(0, end - limit);
  return result(`[${logs.slice(start, end).join(',')}]`);
}

function result(text: string): { kind: 'result'; body: { bytes: Buffer; rest: null } } {
  return { kind: 'result', body: { bytes: Buffer.from(text), rest: null } };
}

/** A filter as the upstream gets it, with the parts that the gateway applies. */
interface CoreFilter {
  /** JSON text of the upstream's parameters. */
  params: string;
  /** The epoch that a node must have, as its head: `tip` for tags. Absent for blocks by hash. */
  block?: number | 'tip';
  /** Number of last logs to keep; null: all. */
  limit: number | null;
  /** Number of last logs to drop first. */
  offset: number;
}

const MAX_BLOCK_HASHES = 128;
const MAX_ADDRESSES = 1_000;
const MAX_TOPICS = 4;
/** conflux-rust, cfxcore/rpc types: epoch_number.rs. */
const EPOCH_TAGS = [
  'latest_mined',
  'latest_state',
  'latest_confirmed',
  'latest_finalized',
  'latest_checkpoint',
  'earliest',
];
const FIELDS = ['fromEpoch', 'toEpoch', 'blockHashes', 'address', 'topics', 'limit', 'offset'];

/** Checks the filter object of core_getLogs. Throws the problem `params-invalid`. */
function readCoreFilter(value: unknown, network: Network): CoreFilter {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrong(`expected a filter object, got ${kindOf(value)}`);
  }
  const filter = value as Record<string, unknown>;
  const unknown = Object.keys(filter).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) throw wrong(`unknown field, expected one of ${FIELDS.join(', ')}`);
  const { blockHashes = null, address = null, topics = null, limit = null, offset = null } = filter;
  const sent: Record<string, unknown> = {};
  if (blockHashes !== null) {
    sent.blockHashes = listOf('blockHashes', blockHashes, MAX_BLOCK_HASHES, hash);
  } else {
    // Nodes read absent bounds differently; the gateway always reads them as these.
    sent.fromEpoch = epoch('fromEpoch', filter.fromEpoch ?? 'latest_checkpoint');
    sent.toEpoch = epoch('toEpoch', filter.toEpoch ?? 'latest_state');
  }
  if (address !== null) {
    const list = typeof address === 'string' ? [address] : address;
    sent.address = listOf('address', list, MAX_ADDRESSES, checkCoreAddress(network.chainId));
  }
  if (topics !== null) {
    sent.topics = listOf('topics', topics, MAX_TOPICS, (topic) => {
      const any: unknown[] = Array.isArray(topic) ? topic : [topic];
      for (const one of any) {
        const bad = one === null ? null : hash(one);
        if (bad !== null) return bad;
      }
      return any.length > MAX_ADDRESSES ? `more than ${MAX_ADDRESSES} alternatives` : null;
    });
  }
  const asked = limit === null ? null : count('limit', limit);
  const { logLimit } = network.rpc;
  const { toEpoch } = sent;
  return {
    params: JSON.stringify([sent]),
    ...(typeof toEpoch === 'string' ? { block: epochNeeded(toEpoch) } : {}),
    limit: logLimit === null ? asked : Math.min(asked ?? logLimit, logLimit),
    offset: offset === null ? 0 : count('offset', offset),
  };
}

function wrong(detail: string): Error {
  return invalidParams(`invalid argument 0: ${detail}`, 0);
}

function listOf(
  name: string,
  value: unknown,
  most: number,
  check: (each: unknown) => string | null,
): unknown[] {
  if (!Array.isArray(value)) throw wrong(`${name}: expected an array, got ${kindOf(value)}`);
  if (value.length > most) throw wrong(`${name}: ${value.length} given, at most ${most}`);
  for (const [at, each] of value.entries()) {
    const bad = check(each);
    if (bad !== null) throw wrong(`${name}: invalid at index ${at}: ${bad}`);
  }
  return value;
}

function epoch(name: string, value: unknown): string {
  if (typeof value === 'string' && EPOCH_TAGS.includes(value)) return value;
  const bad = quantity(value);
  if (bad !== null) throw wrong(`${name}: ${bad}, expected a number or one of ${EPOCH_TAGS.join(', ')}`);
  return value as string;
}

/** Every tag but the first moves with the head. */
function epochNeeded(epoch: string): number | 'tip' {
  if (epoch === 'earliest') return 0;
  return epoch.startsWith('0x') ? Number(epoch) : 'tip';
}

function count(name: string, value: unknown): number {
  const bad = quantity(value);
  if (bad !== null) throw wrong(`${name}: ${bad}`);
  return Math.min(Number(value), Number.MAX_SAFE_INTEGER);
}
