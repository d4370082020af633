import { failure } from '../answer-call.js';
import { createAnswerJointly } from '../answer-jointly.js';
import { askWhole } from '../ask-whole.js';
import type { RpcAnswer, RpcMethod, RpcVisit } from '../method.js';
import { anything, checkParams } from '../params/check-params.js';
import { readCoreFilter } from '../params/core-filter.js';
import { elementsOf } from '../raw-json.js';

/** What networks of the core family offer: logs, which they call by epochs and base32 addresses. */
export function coreMethods(): RpcMethod[] {
  const answerJointly = createAnswerJointly();
  return [
    {
      name: 'core_getLogs',
      cost: 5,
      idempotent: true,
      async handle(call, visit) {
        checkParams(call.params, [anything]);
        const filter = readCoreFilter(call.params[0], visit.at.site.network);
        return answerJointly(call.paramsText, visit, (all) => coreLogs(all, filter));
      },
    },
  ];
}

async function coreLogs(
  visit: RpcVisit,
  { params, limit, offset }: ReturnType<typeof readCoreFilter>,
): Promise<RpcAnswer> {
  const answer = await askWhole(visit, { method: 'core_getLogs', params });
  if (answer.kind === 'error') return answer;
  if (limit === null && offset === 0) return { kind: 'result', body: answer.body };
  // Today's nodes do not know limit and offset: the last `offset` are dropped, then the last `limit` kept.
  if (!answer.text.startsWith('[')) {
    throw failure({ reason: 'nonsense', detail: 'a node sent logs that are no list' });
  }
  const logs = elementsOf(answer.text, Number.MAX_SAFE_INTEGER - 1);
  const end = Math.max(0, logs.length - offset);
  const start = limit === null ? 0 : Math.max(0, end - limit);
  return result(`[${logs.slice(start, end).join(',')}]`);
}

function result(text: string): { kind: 'result'; body: { bytes: Buffer; rest: null } } {
  return { kind: 'result', body: { bytes: Buffer.from(text), rest: null } };
}
