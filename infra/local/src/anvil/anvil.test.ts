import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isAlive } from '@packhouse/runtime';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { callNode } from '../process/call-node.js';
import { freePort } from '../process/free-port.js';
import { type Anvil, startAnvil } from './anvil.js';
import { anvilBinary } from './binary.js';

let folder: string;
let started: Anvil[];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'packhouse-anvil-'));
  started = [];
});
afterEach(async () => {
  for (const anvil of started) await anvil.stop();
  await rm(folder, { recursive: true });
});

async function start(options: Parameters<typeof startAnvil>[0] = {}): Promise<Anvil> {
  const anvil = await startAnvil(options);
  started.push(anvil);
  return anvil;
}

const dead = (pid: number) => vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 120_000 });

describe('startAnvil', () => {
  it('gives a node that answers, and stopping it twice leaves no process and no pid file', async () => {
    const pidFile = path.join(folder, 'run', 'anvil.pid');
    const anvil = await start({ args: ['--chain-id', '4242'], pidFile });
    expect(await callNode(anvil.url, 'eth_chainId')).toBe('0x1092');
    expect(JSON.parse(await readFile(pidFile, 'utf8'))).toMatchObject({ pid: anvil.pid, owner: process.pid });
    await anvil.stop();
    await anvil.stop();
    expect(isAlive(anvil.pid)).toBe(false);
    expect(anvil.running).toBe(false);
    await expect(readFile(pidFile)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('says in one sentence that the port is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    try {
      await expect(startAnvil({ port })).rejects.toMatchObject({
        code: 'CHILD_FAILED',
        message: `Anvil did not start on port ${port}: the port is taken or may not be used.`,
      });
    } finally {
      server.close();
    }
  });

  it('says what Anvil said when it does not start, and leaves nothing behind', async () => {
    const pidFile = path.join(folder, 'anvil.pid');
    await expect(startAnvil({ args: ['--no-such-option'], pidFile })).rejects.toMatchObject({
      code: 'CHILD_FAILED',
      message: expect.stringMatching(/^Anvil did not start on port \d+: .*'--no-such-option'[^\n]*\.$/),
    });
    await expect(readFile(pidFile)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('ends the node that a killed owner left behind', async () => {
    const pidFile = path.join(folder, 'anvil.pid');
    const left = await start({ pidFile });
    const content = JSON.parse(await readFile(pidFile, 'utf8'));
    // Another owner than this node's parent: so that one is gone.
    await writeFile(pidFile, JSON.stringify({ ...content, owner: 2 ** 22 + 1 }));
    const next = await start({ pidFile });
    await dead(left.pid);
    expect(await callNode(next.url, 'eth_chainId')).toBe('0x7a69');
  });

  it('leaves the node of a living owner alone', async () => {
    const pidFile = path.join(folder, 'anvil.pid');
    const port = await freePort();
    const owner = spawn('sh', ['-c', `"$0" --quiet --port ${port} & echo $!; wait`, await anvilBinary()], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [line] = await once(owner.stdout.setEncoding('utf8'), 'data');
    const pid = Number(line);
    try {
      await writeFile(pidFile, JSON.stringify({ pid, owner: owner.pid, port }));
      await vi.waitFor(async () => {
        expect(path.basename((await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0')[0]!)).toBe('anvil');
      });
      await expect(startAnvil({ pidFile })).rejects.toMatchObject({ code: 'DATA_DIR_BUSY' });
      expect(isAlive(pid)).toBe(true);
    } finally {
      process.kill(pid, 'SIGKILL');
      await once(owner, 'exit');
    }
  });

  it('ends no other program that has got the number of the pid file', async () => {
    const pidFile = path.join(folder, 'anvil.pid');
    const stranger = spawn('sleep', ['60'], { stdio: 'ignore' });
    try {
      await writeFile(pidFile, JSON.stringify({ pid: stranger.pid, owner: 1, port: 8545 }));
      await start({ pidFile });
      expect(isAlive(stranger.pid!)).toBe(true);
    } finally {
      stranger.kill('SIGKILL');
    }
  });

  it.each(['', 'not json', '{}', '{"pid":1}'])('takes %j in a pid file as no pid at all', async (content) => {
    const pidFile = path.join(folder, 'anvil.pid');
    await writeFile(pidFile, content);
    await start({ pidFile });
    expect(JSON.parse(await readFile(pidFile, 'utf8'))).toMatchObject({ owner: process.pid });
  });
});
