import { memory, victims } from '../ground/beside.js';
import { type AttackCase, openTarget } from '../ground/case.js';
import { counted } from '../ground/finding.js';
import { getStatuses } from '../programs/misbehaviour-report.js';

const CONNECTIONS = 300;
const BYTES = 5_000_000;

/** Connections without a key that each send half of a body of 5 MB, slowly, and keep quiet then. */
export const attackConnections: AttackCase = async (options) => {
  const target = await openTarget(options);
  const what = `${CONNECTIONS} halves of bodies`;
  const half = { kind: 'hold', url: target.rpc('open'), getHalf: BYTES, connections: CONNECTIONS } as const;
  const seen = await target.beside([half], options.seconds);
  const [client] = seen.clients;
  return [
    ...victims('connections', what, seen),
    memory('connections', what, seen),
    counted('connections', `${what}: refused`, {
      got: client === undefined ? 'nothing' : `${getStatuses(client)} of ${client.sent}`,
      bound: 'all are refused or closed',
      held:
        client !== undefined &&
        client.statuses['200'] === undefined &&
        Object.keys(client.statuses).length > 0,
    }),
  ];
};
