import { setTimeout as delay } from 'node:timers/promises';
import { endAndRead, misbehave } from '../ground/beside.js';
import { type AttackCase, logsCall, openTarget } from '../ground/case.js';
import { counted, type Finding } from '../ground/finding.js';
import { getStatuses, type MisbehaviourReport } from '../programs/misbehaviour-report.js';

/** The plan `free`. */
const UNITS_A_SECOND = 25;
const UNITS_A_CALL = 5;

/** Batches that cost more than a second of the plan has, sent as fast as they are answered. */
export const attackBatches: AttackCase = async (options) => {
  const target = await openTarget(options);
  const seconds = options.short ? 2 : 5;
  const findings: Finding[] = [];
  for (const calls of [6, 40]) {
    const key = (
      await target.ground.database.keys.create({ application: 'batches', network: null, plan: 'free' })
    ).key;
    const text = `[${Array.from({ length: calls }, (_, at) => logsCall(at)).join(',')}]`;
    const child = await misbehave(options.scope, {
      kind: 'flood',
      url: target.rpc('main', key),
      body: { text },
      connections: 2,
      everyMs: 0,
    });
    await delay(seconds * 1_000);
    const report = await endAndRead<MisbehaviourReport>(child);
    // The second in which it begins, and one batch that is begun with nothing owed.
    const most = UNITS_A_SECOND * (seconds + 1) + calls * UNITS_A_CALL;
    const units = report.results * UNITS_A_CALL;
    findings.push(
      counted('batches', `batches of ${calls} eth_getLogs: units answered in ${seconds} s`, {
        got: `${units} (${getStatuses(report)})`,
        bound: `at most ${most}`,
        held: units <= most && units > 0,
      }),
    );
  }
  return findings;
};
