import type { Database } from '@packhouse/database';
import type { InvalidResponse } from '@packhouse/node-rpc';
import type { AlarmName } from '@packhouse/pipeline';
import { type Context, createOnceAWhile, type ErrorCode, getOrAdd } from '@packhouse/runtime';

const ALARM: AlarmName & ErrorCode = 'NODE_ANSWER_FALSE';
/** The same sentence is logged, and the alarm written, once in this time. */
const EVERY_MS = 60_000;

/** Logs false answers of nodes and raises the alarm about them, at most once a minute for each node and method. */
export function createInvalidResponseReport(options: {
  network: string;
  context: Pick<Context, 'clock' | 'logger'>;
  database: Pick<Database, 'network'>;
}): (answer: InvalidResponse) => void {
  const { context, database, network } = options;
  const nodes = new Map<string, ReturnType<typeof createOnceAWhile>>();
  return ({ upstream, method, reason }) => {
    const onceAWhile = getOrAdd(nodes, upstream, () =>
      createOnceAWhile(EVERY_MS, () => context.clock.elapsed()),
    );
    const { say, hidden } = onceAWhile(method);
    if (!say) return;
    const facts = { network, upstream, method, reason, ...(hidden > 0 ? { hidden } : {}) };
    context.logger.warn({ ...facts, code: ALARM }, 'node sent a false answer: another node is asked');
    const names = [...nodes.keys()];
    const message = `Upstream ${names.join(', ')} sent answers that their blocks contradict, the last one to ${method}: ${reason.replace(/\.?$/, '.')} They were not passed on; resynchronise or replace the node.`;
    database
      .network(network)
      .alarms.raise({ name: ALARM, message, data: { upstreams: names, method, reason } })
      .catch((error: unknown) => context.logger.warn({ ...facts, err: error }, 'failed to raise the alarm'));
  };
}
