/**
 * A program: `node misbehave.js '<Misbehaviour as JSON>'` is one client that misbehaves until SIGTERM; then it prints a
 * MisbehaviourReport as JSON. It gives way to all other processes of the machine, as it would be on one of its own.
 */
import { setPriority } from 'node:os';
import { type Flood, flood } from './flood.js';
import { type Hold, hold } from './hold.js';
import type { MisbehaviourReport } from './misbehaviour-report.js';

/** What a client does. */
export type Misbehaviour = Flood | Hold;

const LOWEST = 19;

const misbehaviour = JSON.parse(process.argv[2] ?? '{}') as Misbehaviour;
setPriority(LOWEST);
const report: MisbehaviourReport = { sent: 0, statuses: {}, results: 0, errors: 0 };
if (misbehaviour.kind === 'flood') flood(misbehaviour, report);
else hold(misbehaviour, report);
process.once('SIGTERM', () => {
  process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
});
process.once('disconnect', () => process.exit(0));
process.send?.({ type: 'begun' });
