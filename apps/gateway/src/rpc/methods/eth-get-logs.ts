import type { Clock } from '@packhouse/runtime';
import { askWhole } from '../ask-whole.js';
import {
  createLearntRanges,
  type LearntRanges,
  type LogRange,
  logsOfRange,
  NodeSaid,
} from '../logs-split.js';
import type { RpcAnswer, RpcMethod, RpcVisit } from '../method.js';
import { checkParams, invalidParams } from '../params/check-params.js';
import { type LogFilter, logFilter, readLogFilter } from '../params/log-filter.js';

/** `eth_getLogs` that never dead-ends: split where the nodes refuse, refused with a range that will be answered. */
export function ethGetLogs(): RpcMethod {
  let learnt: LearntRanges | undefined;
  const learntBy = (clock: Clock): LearntRanges => {
    learnt ??= createLearntRanges(clock.now);
    return learnt;
  };
  return {
    name: 'eth_getLogs',
    cost: 5,
    idempotent: true,
    async handle(call, visit) {
      checkParams(call.params, [logFilter]);
      const filter = readLogFilter(call.params[0]);
      const range = rangeOf(filter, visit);
      if (range === null) return askAsItIs(visit, filter);
      if (range.from > range.to) {
        if (!range.fixed) return askAsItIs(visit, filter);
        throw invalidParams('invalid block range params', 0);
      }
      const { finalized } = visit.at.forwarder;
      const name = `${visit.at.site.network.id} eth_getLogs ${JSON.stringify(filter)}`;
      const kept = visit.at.cache.get(name);
      if (kept !== undefined) return whole(kept);
      try {
        const bytes = Buffer.from(
          `[${(await logsOfRange(visit, filter, range, learntBy(visit.context.clock))).join(',')}]`,
        );
        if (range.to <= (finalized() ?? -1) && range.fixed) visit.at.cache.set(name, bytes);
        return whole(bytes);
      } catch (error) {
        if (error instanceof NodeSaid) return { kind: 'error', error: error.error };
        throw error;
      }
    },
  };
}

/** The numbers of a range; null where they are the node's to say (a block hash, `pending`, `safe`, an unknown head). */
function rangeOf(filter: LogFilter, { at }: RpcVisit): (LogRange & { fixed: boolean }) | null {
  if (filter.blockHash !== undefined) return null;
  const { fromBlock = 'latest', toBlock = 'latest' } = filter;
  if (fromBlock === toBlock && !fromBlock.startsWith('0x')) return null;
  const numberOf = (block: string): number | null => {
    if (block.startsWith('0x')) return Number(block);
    if (block === 'earliest') return 0;
    if (block === 'latest') return at.forwarder.head();
    return block === 'finalized' ? at.forwarder.finalized() : null;
  };
  const [from, to] = [numberOf(fromBlock), numberOf(toBlock)];
  if (from === null || to === null) return null;
  const named = toBlock.startsWith('0x');
  return { from, to, fixed: named && fromBlock.startsWith('0x'), ...(named ? {} : { toTag: toBlock }) };
}

async function askAsItIs(visit: RpcVisit, filter: LogFilter): Promise<RpcAnswer> {
  const answer = await askWhole(visit, { method: 'eth_getLogs', params: JSON.stringify([filter]) });
  return answer.kind === 'error' ? answer : whole(Buffer.from(answer.text));
}

function whole(bytes: Buffer): RpcAnswer {
  return { kind: 'result', body: { bytes, rest: null } };
}
