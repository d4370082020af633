import type { ClientAnswer, UpstreamClient } from '@packhouse/node-rpc';
import type { Chart } from './chart.js';

/** A method and parameters that do no harm. */
export type Question = readonly [method: string, params: readonly unknown[]];

const HOW_MANY_SHOWN = 4;

/**
 * Calls every method of a family once. Any answer but "no such method" means that the upstream has it. `must` are the
 * methods without which the network cannot be served.
 */
export async function checkMethods(
  chart: Chart,
  ask: UpstreamClient,
  questions: readonly Question[],
  must: readonly string[],
): Promise<void> {
  const asked = questions.filter(([method]) => !chart.network.rpc.deny.includes(method));
  const answers = await Promise.all(asked.map(([method, params]) => ask.call(method, params)));
  const names = (fits: (answer: ClientAnswer) => boolean): string[] =>
    asked.filter((_, at) => fits(answers[at] as ClientAnswer)).map(([method]) => method);
  const missing = names((answer) => answer.kind === 'error' && answer.error.code === 'NODE_METHOD_MISSING');
  const silent = names((answer) => answer.kind === 'failed');
  const have = `${asked.length - missing.length - silent.length}/${asked.length}`;
  chart.set('methods', 'ok', have);
  if (silent.length > 0) {
    chart.find(
      ...(['methods', 'warn', have] as const),
      `${shown(silent)} gave no JSON-RPC answer.`,
      'Ask it again; where it stays so, raise its limits or use another node for these.',
    );
  }
  if (missing.length === 0) return;
  const vital = missing.filter((method) => must.includes(method));
  if (vital.length > 0) chart.usable = false;
  chart.find(
    ...(['methods', vital.length > 0 ? 'fail' : 'warn', have] as const),
    `It does not offer ${shown(missing)}.`,
    vital.length > 0
      ? 'This network cannot be served without; enable it on the node or use another.'
      : "Enable the node's namespaces for them, leave them to other upstreams, or put them under rpc.deny.",
  );
}

function shown(names: readonly string[]): string {
  const first = names.slice(0, HOW_MANY_SHOWN).join(', ');
  return names.length > HOW_MANY_SHOWN ? `${first} and ${names.length - HOW_MANY_SHOWN} more` : first;
}
