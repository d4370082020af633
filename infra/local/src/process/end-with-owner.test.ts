import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { isAlive } from '@packhouse/runtime';
import { afterEach, expect, it, vi } from 'vitest';
import { endWithOwner } from './end-with-owner.js';

const WAIT = { timeout: 120_000, interval: 20 };
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A process that stays, and the numbers of the shells that watch for it. */
async function watched(): Promise<{ child: ChildProcess; release: () => void }> {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  children.push(child);
  await once(child, 'spawn');
  return { child, release: endWithOwner({ pid: child.pid as number }) };
}

async function getKeepers(pid: number): Promise<number[]> {
  const ps = spawn('ps', ['-A', '-o', 'pid=,args='], { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  ps.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(ps, 'close');
  return text
    .split('\n')
    .filter((line) => line.includes('/bin/sh -c') && line.trim().endsWith(`packhouse-keeper ${pid}`))
    .map((line) => Number.parseInt(line, 10));
}

it('a shell that watches is replaced when somebody ends it, and none is left once it is let go', async () => {
  const { child, release } = await watched();
  const pid = child.pid as number;
  await vi.waitFor(async () => expect(await getKeepers(pid)).toHaveLength(1), WAIT);
  const [first] = await getKeepers(pid);
  process.kill(first as number, 'SIGKILL');
  await vi.waitFor(async () => {
    const now = await getKeepers(pid);
    expect(now).toHaveLength(1);
    expect(now).not.toContain(first);
  }, WAIT);
  release();
  await vi.waitFor(async () => expect(await getKeepers(pid)).toHaveLength(0), WAIT);
  expect(isAlive(pid)).toBe(true);
});
