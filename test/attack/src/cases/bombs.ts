import { memory, victims } from '../ground/beside.js';
import { type AttackCase, openTarget, sendAgain, smallCall } from '../ground/case.js';
import { counted, type Finding } from '../ground/finding.js';
import { getStatuses } from '../programs/misbehaviour-report.js';

/** 200 MB of blanks as a compressed body, then 512 MB of them as a node's compressed answer. */
export const attackBombs: AttackCase = async (options) => {
  const target = await openTarget(options);
  const { unlimited } = target.ground.keys;
  const seconds = options.seconds / 2;
  const zipped = { 'content-encoding': 'gzip' };
  const sent = {
    'compressed bodies': sendAgain(target.rpc('main', unlimited), { name: 'bomb' }, 4, zipped),
    "a node's compressed answers": sendAgain(
      target.rpc('bomb', unlimited),
      { text: smallCall('0x{n}', 'latest') },
      4,
    ),
  };
  const findings: Finding[] = [];
  for (const [what, client] of Object.entries(sent)) {
    const seen = await target.beside([client], seconds);
    findings.push(
      ...victims('bombs', what, seen),
      memory('bombs', what, seen),
      counted('bombs', `${what}: refused`, {
        got: seen.clients.map(getStatuses).join(),
        bound: 'no result',
        held: seen.clients.every(({ results, sent: count }) => results === 0 && count > 0),
      }),
    );
  }
  return findings;
};
