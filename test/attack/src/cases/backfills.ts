import { setTimeout as delay } from 'node:timers/promises';
import { runSql } from '@packhouse/local';
import { readProcess, startGateway, startService } from '@packhouse/rig';
import { measureBeside, memory, victims } from '../ground/beside.js';
import type { AttackCase } from '../ground/case.js';
import { counted, ms, timed } from '../ground/finding.js';
import { openGround, publishChain, replayedChain, serviceEnvironment } from '../ground/ground.js';
import { getStatuses } from '../programs/misbehaviour-report.js';

const RANGES = 100_000;
const ALL_KINDS = 31;
const IDLE_CORES = 0.25;
/** It counts all holes, which later pages do not. */
const FIRST_PAGE_MS = 1_000;

/** 100,000 backfills that cannot be fetched yet: pages of coverage by one client, pointers by another, and idleness. */
export const attackBackfills: AttackCase = async (options) => {
  const { scope, seconds } = options;
  const ground = await openGround(scope, options.postgresUrl);
  const chain = await replayedChain(scope, 24, { network: { proofs: { senders: 'off' } } });
  await publishChain(scope, ground, chain);
  options.say(`  ${RANGES.toLocaleString('en-US')} backfills`);
  await runSql(
    ground.databaseUrl,
    // All above the node's head.
    `INSERT INTO packhouse.backfill (network_id, kinds, first_block, last_block, priority)
     SELECT (SELECT id FROM packhouse.network WHERE name = 'main'), ${ALL_KINDS}, n * 10, n * 10 + 5, 10
     FROM generate_series(1000, ${RANGES + 999}) AS n`,
  );
  const env = await serviceEnvironment(ground, [chain.network]);
  const ingester = startService('ingester', env, { scope });
  await ingester.message('metrics');
  const gateway = await startGateway(env, scope);
  const api = (key: string): string => `${gateway.url}/main/v1/${key}/bundle-api`;
  const prefix = api(ground.keys.unlimited);
  // Its first look at everything is no idleness.
  await delay(options.short ? 2_000 : 10_000);
  // The database server's processes end and begin: their CPU time is in none of these.
  const used = (): number =>
    [ingester, gateway.process].reduce((sum, { pid }) => {
      const { cpuSeconds = 0, endedSeconds = 0 } = readProcess(pid) ?? {};
      return sum + cpuSeconds + endedSeconds;
    }, 0);
  const before = used();
  await delay(seconds * 1_000);
  const cores = (used() - before) / seconds;
  const startedAt = performance.now();
  const page = await fetch(`${prefix}/coverage?to=${RANGES * 11}`);
  await page.arrayBuffer();
  const pageMs = performance.now() - startedAt;
  const seen = await measureBeside({
    probes: [
      { name: '/healthz', url: `${gateway.url}/healthz`, everyMs: 20 },
      { name: 'pointers', url: `${api(ground.keys.victim)}/blocks/${chain.first + 1}`, everyMs: 20 },
    ],
    clients: [
      { kind: 'flood', url: `${prefix}/coverage?from={count}&to=${RANGES * 11}`, connections: 4, everyMs: 0 },
    ],
    seconds,
    attacked: gateway.process,
  });
  const what = `${RANGES.toLocaleString('en-US')} backfills`;
  return [
    timed('backfills', `${what}: cores of an idle ingester and gateway`, {
      got: cores.toFixed(2),
      bound: `at most ${IDLE_CORES}`,
      held: cores <= IDLE_CORES,
    }),
    timed('backfills', `${what}: the first page of coverage`, {
      got: ms(pageMs),
      bound: `at most ${FIRST_PAGE_MS} ms`,
      held: pageMs <= FIRST_PAGE_MS,
    }),
    counted('backfills', `${what}: pages of coverage`, {
      got: `${page.status}; ${seen.clients.map(getStatuses).join()}`,
      bound: 'answered',
      held: page.status === 200,
    }),
    ...victims('backfills', `${what}, pages of coverage read`, seen),
    memory('backfills', `${what}, pages of coverage read`, seen),
  ];
};
