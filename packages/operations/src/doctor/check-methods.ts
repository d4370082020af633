import type { ClientAnswer, UpstreamClient } from '@packhouse/node-rpc';
import type { Chart } from './chart.js';

/** A method with harmless parameters. */
export type Question = readonly [method: string, params: readonly unknown[]];

const MAX_SHOWN = 4;

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
      { column: 'methods', level: 'warn', text: have },
      `No JSON-RPC response to ${shown(silent)}.`,
      'Run this again. If it persists, raise its limits or use another node for these methods.',
    );
  }
  if (missing.length === 0) return;
  const vital = missing.filter((method) => must.includes(method));
  if (vital.length > 0) chart.usable = false;
  chart.find(
    { column: 'methods', level: vital.length > 0 ? 'fail' : 'warn', text: have },
    `It does not support ${shown(missing)}.`,
    vital.length > 0
      ? 'This network cannot be served without them. Enable them on the node, or use another node.'
      : 'Enable their namespaces on the node, leave them to other upstreams, or list them in rpc.deny.',
  );
}

function shown(names: readonly string[]): string {
  const first = names.slice(0, MAX_SHOWN).join(', ');
  return names.length > MAX_SHOWN ? `${first} and ${names.length - MAX_SHOWN} more` : first;
}
