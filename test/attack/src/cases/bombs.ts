import { measureBeside, memory, victims } from '../ground/beside.js';
import { type AttackCase, openTarget, smallCall } from '../ground/case.js';
import { counted } from '../ground/finding.js';
import { getStatuses } from '../programs/misbehaviour-report.js';

/** 200 MB of blanks as a compressed body, then 512 MB of them as a node's compressed answer. */
export const attackBombs: AttackCase = async (options) => {
  const target = await openTarget(options);
  const { unlimited } = target.ground.keys;
  const parts = { probes: target.probes, seconds: options.seconds / 2, attacked: target.gateway.process };
  const body = await measureBeside({
    ...parts,
    clients: [
      {
        kind: 'flood',
        url: target.rpc('main', unlimited),
        connections: 4,
        everyMs: 0,
        headers: { 'content-encoding': 'gzip' },
        body: { name: 'bomb' },
      },
    ],
  });
  const answer = await measureBeside({
    ...parts,
    clients: [
      {
        kind: 'flood',
        url: target.rpc('bomb', unlimited),
        connections: 4,
        everyMs: 0,
        body: { text: smallCall('0x{n}', 'latest') },
      },
    ],
  });
  return [
    ...(
      [
        ['compressed bodies', body],
        ["a node's compressed answers", answer],
      ] as const
    ).flatMap(([what, seen]) => [
      ...victims('bombs', what, seen),
      memory('bombs', what, seen),
      counted('bombs', `${what}: refused`, {
        got: seen.clients.map(getStatuses).join(),
        bound: 'no result',
        held: seen.clients.every(({ results, sent }) => results === 0 && sent > 0),
      }),
    ]),
  ];
};
