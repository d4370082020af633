import type { Clock } from '@packhouse/runtime';
import { createAnswerJointly } from '../answer-jointly.js';
import { askWhole } from '../ask-whole.js';
import { createLearntRanges, type LearntRanges } from '../learnt-ranges.js';
import { logsOfRange } from '../logs-split.js';
import type { RpcAnswer, RpcMethod, RpcVisit } from '../method.js';
import { NodeSaid } from '../node-said.js';
import { checkParams } from '../params/check-params.js';
import { type LogFilter, logFilter, readLogFilter } from '../params/log-filter.js';
import { logRangeOf } from './log-range-of.js';

/** `eth_getLogs` that never dead-ends: split where the nodes refuse, refused with a range that will be answered. */
export function ethGetLogs(): RpcMethod {
  let learnt: LearntRanges | undefined;
  const learntBy = (clock: Clock): LearntRanges => {
    learnt ??= createLearntRanges(clock.now);
    return learnt;
  };
  const answerJointly = createAnswerJointly();
  return {
    name: 'eth_getLogs',
    cost: 5,
    idempotent: true,
    async handle(call, visit) {
      checkParams(call.params, [logFilter]);
      const filter = readLogFilter(call.params[0]);
      const { id, chainId } = visit.at.site.network;
      const name = `${id} ${chainId} eth_getLogs ${JSON.stringify(filter)}`;
      const kept = visit.at.cache.get(name);
      if (kept !== undefined) return { ...whole(kept), kept: name };
      return answerJointly(name, visit, (all) =>
        askOnce(all, filter, { name, learnt: learntBy(all.context.clock) }),
      );
    },
  };
}

async function askOnce(
  visit: RpcVisit,
  filter: LogFilter,
  { name, learnt }: { name: string; learnt: LearntRanges },
): Promise<RpcAnswer> {
  const { cache, forwarder } = visit.at;
  try {
    const range = await logRangeOf(filter, visit);
    if (range === null) return await askAsItIs(visit, filter);
    const isFinal = (): boolean => range.fixed && range.to <= (forwarder.finalized() ?? -1);
    const far = isFinal() ? await cache.far?.(name) : undefined;
    if (far !== undefined) return { ...whole(far), kept: name };
    const { body: bodyOf, sure } = await logsOfRange(visit, filter, range, learnt);
    const body = bodyOf();
    if (sure && isFinal()) cache.set(name, body.bytes);
    return { kind: 'result', body };
  } catch (error) {
    if (error instanceof NodeSaid) return { kind: 'error', error: error.error };
    throw error;
  }
}

async function askAsItIs(visit: RpcVisit, filter: LogFilter): Promise<RpcAnswer> {
  const answer = await askWhole(visit, { method: 'eth_getLogs', params: JSON.stringify([filter]) });
  return answer.kind === 'error' ? answer : { kind: 'result', body: answer.body };
}

function whole(bytes: Buffer): Extract<RpcAnswer, { kind: 'result' }> {
  return { kind: 'result', body: { bytes, rest: null } };
}
