import { realpathSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { runSql } from '@packhouse/local';
import { listProcesses, startGateway } from '@packhouse/rig';
import { watch } from '../ground/beside.js';
import type { AttackCase } from '../ground/case.js';
import { counted, ms, timed } from '../ground/finding.js';
import {
  openGround,
  openPostgres,
  publishChain,
  replayedChain,
  serviceEnvironment,
} from '../ground/ground.js';

const STOPPED_SECONDS = 20;
const MAX_MS = 10_000;
const WELL_AGAIN_MS = 5_000;

/** A Postgres whose processes all stand still for 20 s. */
export const attackPostgres: AttackCase = async (options) => {
  const { scope } = options;
  const postgres = await openPostgres(scope);
  const ground = await openGround(scope, postgres.url);
  const chain = await replayedChain(scope, 24, { network: { proofs: { senders: 'off' } } });
  await publishChain(scope, ground, chain);
  const gateway = await startGateway(await serviceEnvironment(ground, [chain.network]), scope);
  const [row] = await ground.database.network('main').bundles.list('blocks', 0, 1);
  const key = ground.keys.unlimited;
  const file = {
    url: `${gateway.url}/main/files/${row?.objectKey.slice('main/'.length)}`,
    headers: { authorization: `Bearer ${key}` },
  };
  const probes = [
    { name: '/healthz', url: `${gateway.url}/healthz`, everyMs: 50 },
    { name: 'pointers', url: `${gateway.url}/main/v1/${key}/bundle-api/blocks/${chain.first}`, everyMs: 250 },
    { name: 'downloads', ...file, everyMs: 250 },
    // Nothing of it is in memory.
    { name: 'coverage', url: `${gateway.url}/main/v1/${key}/bundle-api/coverage?from=1&to=9`, everyMs: 500 },
  ];
  const alone = await watch(scope, probes, 3);
  const [found] = await runSql<{ folder: string }>(
    postgres.url,
    "SELECT current_setting('data_directory') AS folder",
  );
  const data = realpathSync(found?.folder ?? '');
  const processes = listProcesses().flatMap(({ pid, folder }) => (folder === data ? [pid] : []));
  if (!processes.includes(postgres.pid)) throw new Error('the processes of Postgres were not found');
  const signal = (name: NodeJS.Signals): void => {
    for (const pid of processes) {
      try {
        process.kill(pid, name);
      } catch {
        // A server process that has ended meanwhile.
      }
    }
  };
  // Whatever happens, it can be ended.
  scope.defer(() => signal('SIGCONT'));
  signal('SIGSTOP');
  const stopped = await watch(scope, probes, STOPPED_SECONDS);
  signal('SIGCONT');
  const resumedAt = performance.now();
  let wellMs = Number.POSITIVE_INFINITY;
  while (wellMs === Number.POSITIVE_INFINITY && performance.now() - resumedAt < 60_000) {
    const statuses = await Promise.all(
      probes.map(async ({ url, ...probe }) => {
        const headers = 'headers' in probe ? probe.headers : {};
        const response = await fetch(url, { headers, signal: AbortSignal.timeout(60_000) }).catch(
          () => undefined,
        );
        await response?.arrayBuffer().catch(() => undefined);
        return response?.status;
      }),
    );
    if (statuses.every((status) => status === 200)) wellMs = performance.now() - resumedAt;
    else await delay(100);
  }
  const name = 'postgres';
  return [
    ...Object.entries(stopped).map(([probe, report]) => {
      const told = Object.entries(report.otherwise).map(([status, times]) => `${times} x ${status}`);
      const bound = probe === '/healthz' ? 1_000 : MAX_MS;
      return timed(name, `Postgres stands still ${STOPPED_SECONDS} s: longest wait for ${probe}`, {
        baseline: ms(alone[probe]?.longestMs ?? 0),
        got: `${ms(report.longestMs)} (${[`${report.ok} x 200`, ...told].join(', ')} of ${report.sent})`,
        bound: `at most ${ms(bound)}`,
        held: report.longestMs <= bound,
      });
    }),
    timed(name, 'Postgres goes on: until everything is answered', {
      got: ms(wellMs),
      bound: `at most ${ms(WELL_AGAIN_MS)}`,
      held: wellMs <= WELL_AGAIN_MS,
    }),
    counted(name, 'the gateway afterwards', {
      got: gateway.process.child.exitCode === null ? 'runs' : 'has ended',
      bound: 'runs',
      held: gateway.process.child.exitCode === null,
    }),
  ];
};
