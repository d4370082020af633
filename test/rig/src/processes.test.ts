import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { processTree } from './processes.js';

const here = existsSync('/proc/self/stat');

it.skipIf(!here)('sees a process and those below it (needs Linux)', async () => {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume(); console.log("up")', 'a (b) c'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    await once(child.stdout, 'data');
    const tree = processTree(process.pid);
    expect(tree.map(({ pid }) => pid)).toEqual(expect.arrayContaining([process.pid, child.pid]));
    const seen = tree.find(({ pid }) => pid === child.pid);
    expect(seen?.command).toContain('a (b) c');
    expect(seen?.peakBytes).toBeGreaterThan(10_000_000);
    expect(processTree(child.pid as number).map(({ pid }) => pid)).toEqual([child.pid]);
  } finally {
    child.stdin.end();
    await once(child, 'exit');
  }
});
