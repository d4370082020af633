import { createAnswerJointly } from '../rpc/answer-jointly.js';
import { askWhole } from '../rpc/ask-node.js';
import { checkParams, isAbsent, isObject } from '../rpc/check-params.js';
import { type LogFilter, logFilter, readLogFilter } from '../rpc/log-filter.js';
import { getLogRange } from '../rpc/log-range.js';
import { matchesFilter } from '../rpc/match-logs.js';
import {
  type CallContext,
  type RpcAnswer,
  type RpcMethod,
  toAnswerName,
  toAnswerPrefix,
  toResult,
} from '../rpc/method.js';
import { evmLogs, getLogsInRange, type LogRange, type RangeLimit } from '../rpc/split-logs.js';

/** `eth_getLogs`: split if the upstreams refuse it, and refused with a working range if it is too much. */
export function ethGetLogs(learnt: RangeLimit): RpcMethod {
  const answerJointly = createAnswerJointly();
  return {
    name: 'eth_getLogs',
    cost: 5,
    idempotent: true,
    contracts: readAddresses,
    getLogRange: readRange,
    async handle(call, caller) {
      checkParams(call.params, [logFilter]);
      const filter = readLogFilter(call.params[0]);
      const name = toAnswerName(caller.network, 'eth_getLogs', JSON.stringify(filter));
      const kept = caller.network.cache.get(name);
      if (kept !== undefined) return toResult(kept, name);
      // A call that begins now may know of a newer block than one that is under way.
      const { forwarder } = caller.network;
      const newest = dependsOn(filter, forwarder.head()) ? await forwarder.newest() : null;
      return answerJointly(`${name} ${newest}`, caller, (all) => askOnce(all, filter, { name, learnt }));
    },
  };
}

/** The contracts of a filter object; none: those of all logs. */
export function readAddresses([filter]: readonly unknown[]): readonly unknown[] {
  const address = isObject(filter) ? filter.address : null;
  return isAbsent(address) ? [] : [address].flat();
}

/** The range of a filter object. Throws the problem `params-invalid`. */
export function readRange(params: readonly unknown[]): LogFilter {
  checkParams(params, [logFilter]);
  return readLogFilter(params[0]);
}

async function askOnce(
  caller: CallContext,
  filter: LogFilter,
  { name, learnt }: { name: string; learnt: RangeLimit },
): Promise<RpcAnswer> {
  const { cache, forwarder } = caller.network;
  const range = await getLogRange(filter, caller);
  if (range === null) {
    const lacks = caller.network.newestLogs?.getLack(
      caller,
      filter,
      filter.blockHash ?? getHead(filter, caller),
    );
    return askWhole(caller, {
      lacks,
      check: matchesFilter(filter, isOneBlock(filter) ? undefined : { from: 0, to: null }),
      method: 'eth_getLogs',
      params: JSON.stringify([filter]),
      crossCheck: 'logs',
      block: filter.blockHash === undefined ? 'tip' : undefined,
    });
  }
  const isFinal = (): boolean => range.fixed && range.to <= (forwarder.finalized() ?? -1);
  const looks = cache.shared !== undefined && isFinal();
  const [shared] = looks ? await Promise.all([cache.shared?.(name), forwarder.refreshEpoch()]) : [];
  const isCurrent = name.startsWith(`${toAnswerPrefix(caller.network)} `);
  if (shared !== undefined && isCurrent) return toResult(shared, name);
  const { body: toBody, sure } = await getLogsInRange(caller, evmLogs(caller, filter), range, learnt);
  const body = toBody();
  if (sure && isFinal()) cache.set(name, body);
  return { kind: 'result', body };
}

/** One block, by its hash or by one tag. */
function isOneBlock({ blockHash, fromBlock = 'latest', toBlock = 'latest' }: LogFilter): boolean {
  return blockHash !== undefined || fromBlock === toBlock;
}

/** The newest block as a range, if both ends of a filter are it; otherwise none. */
function getHead({ fromBlock = 'latest', toBlock = 'latest' }: LogFilter, caller: CallContext): LogRange {
  const head = fromBlock === 'latest' && toBlock === 'latest' ? caller.network.forwarder.head() : null;
  return { from: head ?? 0, to: head ?? -1 };
}

/** Whether the logs depend on a newer block than `head`. */
function dependsOn({ blockHash, fromBlock, toBlock = 'latest' }: LogFilter, head: number | null): boolean {
  if (blockHash !== undefined) return false;
  const numbered = toBlock.startsWith('0x') && fromBlock?.startsWith('0x') === true;
  return !numbered || Number(toBlock) > (head ?? -1);
}
