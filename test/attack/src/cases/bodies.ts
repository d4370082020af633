import { memory, victims } from '../ground/beside.js';
import { type AttackCase, openTarget, sendAgain, smallCall } from '../ground/case.js';
import { counted, type Finding } from '../ground/finding.js';
import type { BodyName } from '../programs/bodies.js';
import type { Misbehaviour } from '../programs/misbehave.js';
import { getStatuses } from '../programs/misbehaviour-report.js';

/** More than a second of the plan `free` has. */
const SPEND_EVERY_MS = 20;

/** Its size is allowed, so it may be answered; only what it costs the others counts. */
const ACCEPTED = '1 MB of 32,000 parts, a key of the plan free';

/** Bodies of 5 MB, and small ones that cost much, one after the other on one connection. */
export const attackBodies: AttackCase = async (options) => {
  const target = await openTarget(options);
  const { free, unlimited } = target.ground.keys;
  const send = (url: string, name: BodyName): Misbehaviour => sendAgain(url, { name });
  const spend: Misbehaviour = {
    kind: 'flood',
    url: target.rpc('main', free),
    body: { text: smallCall('0x{n}', 'latest') },
    connections: 1,
    everyMs: SPEND_EVERY_MS,
  };
  const variants: [string, Misbehaviour[]][] = [
    ['5 MB, a key with a spent rate', [send(target.rpc('main', free), 'long'), spend]],
    ['5 MB, no key', [send(target.rpc('open'), 'long')]],
    ['5 MB, a key that does not exist', [send(target.rpc('main', 'ph_nobody'), 'long')]],
    ['2.5 million arrays in each other', [send(target.rpc('main', unlimited), 'deep')]],
    ['5 MB of small objects', [send(target.rpc('main', unlimited), 'wide')]],
    ['a batch of 100,000', [send(target.rpc('main', unlimited), 'elements')]],
    [ACCEPTED, [send(target.rpc('main', free), 'accepted')]],
  ];
  const findings: Finding[] = [];
  for (const [what, clients] of variants) {
    options.say(`  ${what}`);
    const seen = await target.beside(clients, options.seconds / 2);
    const [client] = seen.clients;
    findings.push(...victims('bodies', what, seen), memory('bodies', what, seen));
    if (what === ACCEPTED) continue;
    findings.push(
      counted('bodies', `${what}: refused`, {
        got: client === undefined ? 'nothing' : getStatuses(client),
        bound: 'no result',
        held: client?.results === 0 && client.statuses['200'] === undefined,
      }),
    );
  }
  return findings;
};
