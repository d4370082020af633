import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { expect, it, vi } from 'vitest';
import { isAlive, processStart } from './process-start.js';

it('is the same each time for one process, and another for each process', async () => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  try {
    const own = processStart(process.pid);
    expect(own).toMatch(/./);
    expect(processStart(process.pid)).toBe(own);
    expect(processStart(child.pid as number)).not.toBe(own);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  expect(processStart(child.pid as number)).toBeNull();
});

it.each([0, -1, 1.5, Number.NaN, 2 ** 22 + 1])('is null for %d, which is no process', (pid) => {
  expect(processStart(pid)).toBeNull();
});

it.runIf(process.platform === 'linux')(
  'does not take a zombie for a process that runs (needs Linux)',
  async () => {
    // The shell becomes a sleep that never waits for the child it got, which ends once that has happened.
    const parent = spawn('sh', ['-c', 'cat <&3 & echo $!; exec sleep 600 3<&-'], {
      stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    });
    // From the beginning: an end that is waited for only after it came never comes, and hides what failed.
    const ended = once(parent, 'exit');
    try {
      const [line] = await once(parent.stdout!.setEncoding('utf8'), 'data');
      const pid = Number(line);
      const waitsNot = async () => expect(await readFile(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n');
      await vi.waitFor(waitsNot, { timeout: 120_000 });
      parent.stdio[3]?.destroy();
      await vi.waitFor(async () => expect(await readFile(`/proc/${pid}/stat`, 'latin1')).toMatch(/\) Z /), {
        timeout: 120_000,
      });
      expect(() => process.kill(pid, 0)).not.toThrow();
      expect(isAlive(pid)).toBe(false);
    } finally {
      parent.kill('SIGKILL');
      await ended;
    }
  },
);
