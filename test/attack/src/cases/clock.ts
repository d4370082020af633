import { setTimeout as delay } from 'node:timers/promises';
import { runSql } from '@packhouse/local';
import { startService } from '@packhouse/rig';
import type { AttackCase } from '../ground/case.js';
import { counted } from '../ground/finding.js';
import { openGround, replayedChain, serviceEnvironment } from '../ground/ground.js';

const LENGTH = 600;
const BEFORE = 24;
const AFTER = 24;
const PATIENCE_MS = 40_000;
const POLL_MS = 100;

/** Loaded before the program: SIGUSR2 sets the wall clock back an hour. What counts from the start is not touched. */
const SHIFT = `data:text/javascript,${encodeURIComponent(`
  const Real = Date;
  let shift = 0;
  globalThis.Date = class extends Real {
    constructor(...args) { args.length === 0 ? super(Real.now() + shift) : super(...args); }
    static now() { return Real.now() + shift; }
  };
  process.on('SIGUSR2', () => { shift -= 3600000; });
`)}`;

/** An ingester with a fixed rate whose wall clock is set back an hour. */
export const attackClock: AttackCase = async (options) => {
  const { scope } = options;
  const ground = await openGround(scope, options.postgresUrl);
  const chain = await replayedChain(scope, LENGTH, {
    // So slow that there is something left to fetch when the clock is set back.
    upstream: { requestsPerSecond: 25 },
    network: { proofs: { senders: 'off' } },
  });
  await ground.database.networks.register({ id: 'main', chainId: 1 });
  await ground.database
    .network('main')
    .backfills.add({ kinds: ['blocks', 'logs'], from: chain.first, to: chain.last, priority: 1 });
  const env = await serviceEnvironment(ground, [chain.network]);
  const ingester = startService('ingester', { ...env, NODE_OPTIONS: `--import=${SHIFT}` }, { scope });
  await ingester.message('metrics');
  const staged = async (): Promise<number> => {
    const [row] = await runSql<{ count: number }>(
      ground.databaseUrl,
      'SELECT count(*)::int AS count FROM packhouse.staged_block',
    );
    return row?.count ?? 0;
  };
  const until = async (count: number): Promise<number> => {
    const end = performance.now() + PATIENCE_MS;
    let seen = await staged();
    for (; seen < count && performance.now() < end; seen = await staged()) await delay(POLL_MS);
    return seen;
  };
  const before = await until(BEFORE);
  ingester.child.kill('SIGUSR2');
  const atOnce = await staged();
  const after = (await until(Math.min(LENGTH, atOnce + AFTER))) - atOnce;
  return [
    counted('clock', 'blocks staged before the clock is set back', {
      got: before,
      bound: `${BEFORE} or more, not all`,
      held: before >= BEFORE && atOnce < LENGTH,
    }),
    counted('clock', "blocks staged after the ingester's clock was set back an hour", {
      got: after,
      bound: `${AFTER} or more`,
      held: after >= AFTER,
    }),
  ];
};
