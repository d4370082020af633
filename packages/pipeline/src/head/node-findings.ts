import type { Database } from '@packhouse/database';
import type { NodeFinding } from '@packhouse/node-rpc';
import type { Context } from '@packhouse/runtime';
import type { AlarmName } from '../alarm-names.js';

/** The alarm about nodes of which most others have another final block. */
const ALARM: AlarmName = 'NODES_DISAGREE';

/** Raises the alarm about what was found of the nodes of a network. Other chains and false answers are told elsewhere. */
export function createFindingReport(options: {
  network: string;
  context: Pick<Context, 'logger'>;
  database: Pick<Database, 'network'>;
}): (finding: NodeFinding) => void {
  const { context, database, network } = options;
  return ({ kind, reason, upstream }) => {
    if (kind === 'another-chain' || kind === 'false-answer') return;
    const sentences = {
      minority: `Upstream ${upstream} is left out until it agrees with most others: ${reason}. Resynchronise or replace it.`,
      outvoted: `Upstream ${upstream} is alone with an answer: ${reason}. It was not passed on.`,
      changed: `Upstream ${upstream} changed a final block: ${reason}. Answers from before are not used any more.`,
      tie: `The upstreams disagree, and no block has the most of them: ${reason}. Nothing newer than they agree about is answered or staged; add a node, or cordon those that are wrong.`,
    };
    database
      .network(network)
      .alarms.raise({ name: ALARM, message: sentences[kind], data: { kind, upstream, reason } })
      .catch((error: unknown) => context.logger.warn({ network, err: error }, 'failed to raise the alarm'));
  };
}
