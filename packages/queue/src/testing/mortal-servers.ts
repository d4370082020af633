import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, removePostgres, startPostgres, startRedis } from '@packhouse/local';
import { until } from './fixtures.js';

/** A server of the test's own that is killed and started again at the same address. */
export interface MortalServer {
  url: { redisUrl: string } | { databaseUrl: string };
  kill(): Promise<void>;
  revive(): Promise<void>;
  /** Kills it for good. */
  remove(): Promise<void>;
}

/** A Redis without persistence: what it held is gone when it is killed. */
export async function mortalRedis(): Promise<MortalServer> {
  const { url: redisUrl, stop, restart } = await startRedis();
  return { url: { redisUrl }, kill: stop, revive: restart, remove: stop };
}

/** A Postgres that recovers from its log when it is started again. */
export async function mortalPostgres(): Promise<MortalServer> {
  const directory = await mkdtemp(join(tmpdir(), 'queue-postgres-'));
  await chmod(directory, 0o755);
  const port = await freePort();
  let server = await startPostgres({ directory, port });
  const kill = async (): Promise<void> => {
    process.kill(server.pid, 'SIGKILL');
    await until(() => {
      if (isAlive(server.pid)) throw new Error('still there');
    });
  };
  return {
    url: { databaseUrl: server.url },
    kill,
    revive: async () => {
      server = await startPostgres({ directory, port });
    },
    remove: async () => {
      await server.stop();
      await removePostgres(directory);
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
