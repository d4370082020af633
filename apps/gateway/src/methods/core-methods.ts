import { checkCoreAddress, coreAddressHex, toQuantity } from '@packhouse/chain';
import { splitArray } from '@packhouse/json';
import type { Network } from '@packhouse/networks';
import { judgeRefusedRange, type ResultBody } from '@packhouse/node-rpc';
import { createAnswerJointly } from '../rpc/answer-jointly.js';
import { askWhole, expectLogs } from '../rpc/ask-node.js';
import {
  anything,
  type Check,
  checkParams,
  describeType,
  hash,
  invalidParams,
  isObject,
  quantity,
} from '../rpc/check-params.js';
import { MAX_LIST, MAX_TOPICS, topicCheck } from '../rpc/log-filter.js';
import { type CallContext, type RpcAnswer, type RpcMethod, toResult } from '../rpc/method.js';
import { createRangeLimit, getLogsInRange, type RangeLimit } from '../rpc/split-logs.js';

/** Methods of the core family: logs, by epochs and base32 addresses. */
export function coreMethods({ elapsed }: { elapsed: () => number }): RpcMethod[] {
  const learnt = createRangeLimit(elapsed);
  const answerJointly = createAnswerJointly();
  return [
    {
      name: 'core_getLogs',
      cost: 5,
      idempotent: true,
      contracts: readAddresses,
      async handle(call, caller) {
        checkParams(call.params, [anything]);
        const filter = readCoreFilter(call.params[0], caller.network.config);
        return answerJointly(call.paramsText, caller, (all) => coreLogs(all, filter, learnt));
      },
    },
  ];
}

/** The contracts of a filter object in hex; none: those of all logs. Faults of an address are found later. */
function readAddresses([filter]: readonly unknown[]): readonly unknown[] {
  const address = isObject(filter) ? (filter.address ?? []) : [];
  return [address].flat().map((each) => (typeof each === 'string' ? `0x${coreAddressHex(each)}` : each));
}

async function coreLogs(
  caller: CallContext,
  filter: ReturnType<typeof readCoreFilter>,
  learnt: RangeLimit,
): Promise<RpcAnswer> {
  const { block, limit, offset, sent } = filter;
  // A node that lacks a block may have no logs of it rather than an error.
  const crossCheck = block === undefined ? 'existence' : undefined;
  const params = JSON.stringify([sent]);
  const answer = await askWhole(caller, { method: 'core_getLogs', params, block, crossCheck });
  const body = answer.kind === 'error' ? await splitEpochs(caller, sent, answer, learnt) : answer.body;
  if (body === null || (limit === null && offset === 0))
    return body === null ? answer : { kind: 'result', body };
  // Current nodes ignore limit and offset. The last `offset` logs are dropped, then the last `limit` kept.
  expectLogs(body);
  const logs = splitArray(body.bytes);
  const end = Math.max(0, logs.length - offset);
  const start = limit === null ? 0 : Math.max(0, end - limit);
  return toResult(`[${logs.slice(start, end).join(',')}]`);
}

/** The epochs of a refused range, which nodes name beside their limit. */
const REFUSED_EPOCHS = /from: (\d{1,15}), to: (\d{1,15})/;

/** The logs of a range of epochs that a node refused, in smaller ones; null if that would not help. */
async function splitEpochs(
  caller: CallContext,
  sent: CoreFilter['sent'],
  refusal: Extract<Awaited<ReturnType<typeof askWhole>>, { kind: 'error' }>,
  learnt: RangeLimit,
): Promise<ResultBody | null> {
  const refused = judgeRefusedRange(refusal);
  if (refused === null || sent.blockHashes !== undefined) return null;
  const named = REFUSED_EPOCHS.exec(refusal.message);
  const [from, to] = [sent.fromEpoch, sent.toEpoch].map((epoch, at) =>
    Number(String(epoch).startsWith('0x') ? epoch : named?.[at + 1]),
  ) as [number, number];
  if (!(from < to)) return null;
  if (refused.blocks !== null) learnt.reduce(to - from + 1, refused.blocks);
  const { body } = await getLogsInRange(
    caller,
    {
      bounds: ['fromEpoch', 'toEpoch'],
      member: 'epochNumber',
      ask: (part, alone) => {
        const epochs = { fromEpoch: toQuantity(part.from), toEpoch: toQuantity(part.to) };
        const params = JSON.stringify([{ ...sent, ...epochs }]);
        return askWhole(caller, { method: 'core_getLogs', params, block: part.to, alone });
      },
    },
    { from, to },
    learnt,
  );
  return body();
}

/** A filter as the upstream gets it, with the parts that the gateway applies. */
interface CoreFilter {
  /** The filter of the upstream's parameters. */
  sent: Record<string, unknown>;
  /** The epoch that a node must have, as its head: `tip` for tags. Absent for blocks by hash. */
  block?: number | 'tip';
  /** Number of last logs to keep; null: all. */
  limit: number | null;
  /** Number of last logs to drop first. */
  offset: number;
}

const MAX_BLOCK_HASHES = 128;
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
  if (!isObject(value)) throw wrong(`expected a filter object, got ${describeType(value)}`);
  const unknown = Object.keys(value).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) throw wrong(`unknown field, expected one of ${FIELDS.join(', ')}`);
  const { blockHashes = null, address = null, topics = null, limit = null, offset = null } = value;
  const sent: Record<string, unknown> = {};
  if (blockHashes !== null) {
    sent.blockHashes = toList('blockHashes', blockHashes, MAX_BLOCK_HASHES, hash);
  } else {
    // Nodes read absent bounds differently; the gateway always reads them as these.
    sent.fromEpoch = epoch('fromEpoch', value.fromEpoch ?? 'latest_checkpoint');
    sent.toEpoch = epoch('toEpoch', value.toEpoch ?? 'latest_state');
  }
  if (address !== null) {
    const list = typeof address === 'string' ? [address] : address;
    sent.address = toList('address', list, MAX_LIST, checkCoreAddress(network.chainId));
  }
  if (topics !== null) {
    sent.topics = toList('topics', topics, MAX_TOPICS, (topic) =>
      Array.isArray(topic) && topic.length > MAX_LIST
        ? `more than ${MAX_LIST} alternatives`
        : topicCheck(topic),
    );
  }
  const requested = limit === null ? null : count('limit', limit);
  const { logLimit } = network.rpc;
  const { toEpoch } = sent;
  return {
    sent,
    block: typeof toEpoch === 'string' ? epochNeeded(toEpoch) : undefined,
    limit: logLimit === null ? requested : Math.min(requested ?? logLimit, logLimit),
    offset: offset === null ? 0 : count('offset', offset),
  };
}

function wrong(detail: string): Error {
  return invalidParams(`invalid argument 0: ${detail}`, 0);
}

function toList(name: string, value: unknown, most: number, check: Check): unknown[] {
  if (!Array.isArray(value)) throw wrong(`${name}: expected an array, got ${describeType(value)}`);
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
