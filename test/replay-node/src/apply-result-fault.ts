import { type Answer, failure, valueAnswer } from './answer.js';
import type { FaultRule } from './faults.js';
import type { PreparedCall } from './methods.js';
import { readText } from './served-chain.js';

/** The answer of a call with one fault in it; faults of the transport leave it as it is. */
export function applyResultFault(rule: FaultRule, answer: Answer, call: PreparedCall): Answer {
  switch (rule.do) {
    case 'emptyReceipts':
    case 'emptyTraces':
      return valueAnswer([]);
    case 'nullReceipts':
    case 'nullBlock':
      return valueAnswer(null);
    case 'rpcError':
      return failure(rule.code ?? -32000, rule.message ?? 'internal error');
    case 'wrongBlock':
      return neighbour(call) ?? answer;
    case 'tamper':
      return tamper(rule, answer);
    default:
      return answer;
  }
}

function neighbour(call: PreparedCall): Answer | undefined {
  if (call.block === undefined) return undefined;
  const below = call.answer(call.block - 1);
  if ('result' in below && below.result.byteLength > 'null'.length) return below;
  return call.answer(call.block + 1);
}

function tamper({ path = [], value }: FaultRule, answer: Answer): Answer {
  if (!('result' in answer)) return answer;
  const holder = { result: JSON.parse(readText(answer.result).toString()) as unknown };
  const steps: readonly (string | number)[] = ['result', ...path];
  let at = holder as unknown as Record<string | number, unknown>;
  for (const step of steps.slice(0, -1)) {
    const next = at[step];
    if (typeof next !== 'object' || next === null) return answer;
    at = next as Record<string | number, unknown>;
  }
  const last = steps.at(-1) as string | number;
  at[last] = typeof value === 'function' ? value(at[last]) : value;
  return valueAnswer(holder.result);
}
