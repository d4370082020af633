import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './process/free-port.js';
import { makeBucket } from './s3-buckets.js';

const READY_POLL_MS = 50;

/** A running S3 server of others, which keeps nothing when it is stopped. */
export interface LocalS3 {
  endpoint: string;
  /** A bucket that is there. */
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Kills it and waits until it is gone. */
  stop(): Promise<void>;
}

/** What a server is started with, in a folder of its own. */
interface Start {
  port: number;
  folder: string;
}

/** An S3 server that tests can run, if its program is on PATH. */
export interface S3Server {
  name: string;
  program: string;
  /** Whether it repeats the SHA-256 that it was sent. */
  verifies: boolean;
  /** Whether it refuses bytes with another. */
  compares: boolean;
  /** Whether it checks keys, signatures and the time of requests. */
  authenticates: boolean;
  /** Whether it keeps versions of objects, and can lock them. */
  versions: boolean;
}

const BUCKET = 'packhouse-test';
const ACCESS_KEY = 'test-access-key';
const SECRET_KEY = 'a-secret-that-appears-nowhere';

/** `npm run nightly` installs those that can be had (infra/bootstrap/test-programs.mjs). */
export const S3_SERVERS: readonly S3Server[] = [
  {
    name: 'moto',
    program: 'moto_server',
    verifies: true,
    compares: false,
    authenticates: false,
    versions: true,
  },
  {
    name: 'VersityGW',
    program: 'versitygw',
    verifies: true,
    compares: true,
    authenticates: true,
    versions: true,
  },
  {
    name: 'S3Proxy',
    program: 's3proxy',
    verifies: false,
    compares: false,
    authenticates: true,
    versions: false,
  },
];

const ARGUMENTS: Record<string, (start: Start) => Promise<string[]>> = {
  moto_server: async ({ port }) => ['-H', '127.0.0.1', '-p', String(port)],

  // Its buckets are folders.
  versitygw: async ({ port, folder }) => {
    for (const name of ['buckets', 'versions']) await mkdir(path.join(folder, name));
    const common = ['--port', `127.0.0.1:${port}`, '--access', ACCESS_KEY, '--secret', SECRET_KEY, '--quiet'];
    return [
      ...common,
      'posix',
      '--versioning-dir',
      path.join(folder, 'versions'),
      path.join(folder, 'buckets'),
    ];
  },

  s3proxy: async ({ port, folder }) => {
    const file = path.join(folder, 's3proxy.properties');
    const lines = [
      `s3proxy.endpoint=http://127.0.0.1:${port}`,
      's3proxy.authorization=aws-v2-or-v4',
      `s3proxy.identity=${ACCESS_KEY}`,
      `s3proxy.credential=${SECRET_KEY}`,
      'jclouds.provider=transient',
      'jclouds.identity=none',
      'jclouds.credential=none',
    ];
    await writeFile(file, lines.join('\n'));
    return ['--properties', file];
  },
};

/** Whether its program is on PATH. */
export function s3ServerInstalled({ program }: S3Server): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Starts a server on a free port of 127.0.0.1 and resolves when it answers. `first`: more arguments, before all others. */
export async function startS3Server(server: S3Server, first: readonly string[] = []): Promise<LocalS3> {
  const port = await freePort();
  const folder = await mkdtemp(path.join(os.tmpdir(), `packhouse-${server.program}-`));
  let child: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    if (child !== undefined && isRunning(child)) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await rm(folder, { recursive: true, force: true });
  };
  const endpoint = `http://127.0.0.1:${port}`;
  try {
    const args = await ARGUMENTS[server.program]?.({ port, folder });
    child = spawn(server.program, [...first, ...(args ?? [])], { stdio: 'ignore', cwd: folder });
    await once(child, 'spawn');
    const answers = (): Promise<boolean> =>
      fetch(endpoint)
        .then((response) => response.arrayBuffer())
        .then(
          () => true,
          () => false,
        );
    while (!(await answers())) {
      if (!isRunning(child)) throw new Error(`${server.program} ended with ${child.exitCode}`);
      await delay(READY_POLL_MS);
    }
    const access = { endpoint, accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };
    await makeBucket(access, BUCKET);
    return { ...access, bucket: BUCKET, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}
