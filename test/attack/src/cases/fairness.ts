import { measureBeside } from '../ground/beside.js';
import { type AttackCase, logsCall, openTarget, smallCall } from '../ground/case.js';
import { counted, ms, timed } from '../ground/finding.js';
import { getStatuses } from '../programs/misbehaviour-report.js';
import type { ProbeReport } from '../programs/watch-victim.js';

/** Five calls a second are all that the plan `free` has for eth_getLogs. */
const EVERY_MS = 200;
const MAX_MS = 2_000;

/** One free key's eth_getLogs, of which each takes the node 6 s, against another key's small calls on the same node. */
export const attackFairness: AttackCase = async (options) => {
  const target = await openTarget(options);
  const { free, victim } = target.ground.keys;
  const seen = await measureBeside({
    probes: [
      { name: 'calls', url: target.rpc('slow', victim), body: smallCall('0x{n}', 'latest'), everyMs: 62 },
    ],
    clients: [
      {
        kind: 'flood',
        url: target.rpc('slow', free),
        connections: 1,
        everyMs: EVERY_MS,
        body: { text: logsCall() },
      },
    ],
    seconds: options.seconds * 2,
    aloneSeconds: options.seconds / 2,
    attacked: target.process,
  });
  const [alone, under] = [seen.alone.calls as ProbeReport, seen.attacked.calls as ProbeReport];
  const rested = target.process.stderr().includes('upstream circuit opened');
  const [client] = seen.clients;
  const what = '5 slow eth_getLogs a second of one key';
  return [
    timed('fairness', `${what}: calls of another, answered`, {
      baseline: `${alone.ok} of ${alone.sent}`,
      got: `${under.ok} of ${under.sent}`,
      bound: 'at least 95 %',
      held: under.sent > 0 && under.ok / under.sent >= 0.95,
    }),
    timed('fairness', `${what}: longest wait of another`, {
      baseline: ms(alone.longestMs),
      got: ms(under.longestMs),
      bound: `at most ${ms(MAX_MS)}`,
      held: under.longestMs <= MAX_MS,
    }),
    counted('fairness', `${what}: the node's circuit`, {
      got: `${rested ? 'opened' : 'closed'}; the key itself: ${client === undefined ? '' : getStatuses(client)}`,
      bound: 'stays closed',
      held: !rested,
    }),
  ];
};
