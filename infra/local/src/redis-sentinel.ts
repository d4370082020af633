import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type LocalRedis, startRedis } from './redis.js';

const POLL_MS = 50;
/** A master that is silent for so long is replaced, in milliseconds. */
const DOWN_AFTER_MS = 500;

/** A master, its replica, and a Sentinel that makes the replica the master if that ends. */
export interface LocalSentinel {
  /** Of Sentinel, with the name of the master. */
  url: string;
  master: LocalRedis;
  replica: LocalRedis;
  /** Kills the master, and waits until Sentinel has made the replica one. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts all three by the redis-server on PATH; resolves when Sentinel knows the replica. */
export async function startSentinel(): Promise<LocalSentinel> {
  const folder = await mkdtemp(path.join(tmpdir(), 'packhouse-sentinel-'));
  const master = await startRedis({ more: ['--dir', folder] });
  const replica = await startRedis({
    more: ['--dir', folder, '--replicaof', `127.0.0.1 ${master.port}`, '--repl-diskless-load', 'on-empty-db'],
  });
  const file = path.join(folder, 'sentinel.conf');
  await writeFile(
    file,
    [
      `sentinel monitor main 127.0.0.1 ${master.port} 1`,
      `sentinel down-after-milliseconds main ${DOWN_AFTER_MS}`,
      'sentinel failover-timeout main 5000',
      `dir ${folder}`,
      '',
    ].join('\n'),
  );
  const sentinel = await startRedis({ more: [file, '--sentinel'] });
  const until = async (server: LocalRedis, command: string, answer: RegExp): Promise<void> => {
    while (!answer.test(await server.command(command))) await delay(POLL_MS);
  };
  await until(replica, 'INFO replication', /master_link_status:up/);
  await until(sentinel, 'SENTINEL master main', /num-slaves\r\n\$1\r\n1\r\n/);
  return {
    url: `redis+sentinel://127.0.0.1:${sentinel.port}/main`,
    master,
    replica,
    async failOver() {
      await master.stop();
      await until(replica, 'INFO replication', /role:master/);
    },
    async stop() {
      await Promise.all([sentinel.stop(), master.stop(), replica.stop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
