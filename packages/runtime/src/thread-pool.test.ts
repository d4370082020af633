import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createThreadPool } from './thread-pool.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'threads-'));
});
afterAll(() => rm(folder, { recursive: true }));

let pool: ReturnType<typeof createThreadPool<number, number>>;
afterEach(() => pool.close());

async function open(body: string, threads = 2): Promise<void> {
  const file = path.join(folder, `${Math.random()}.mjs`);
  await writeFile(file, `import { parentPort } from 'node:worker_threads'; ${body}`);
  pool = createThreadPool({ threads, idleMs: 60_000, program: pathToFileURL(file) });
}
const DOUBLE = `parentPort.on('message', (n) => n === 13 ? process.exit(3) : parentPort.postMessage(2 * n));`;
const run = (order: number, bytes = 1) => pool.run(bytes, () => ({ order, moved: [] }));

describe('a pool of threads', () => {
  it('answers each job with its own answer, however many there are', async () => {
    await open(DOUBLE);
    const orders = Array.from({ length: 200 }, (_, n) => n + 100);
    expect(await Promise.all(orders.map((n) => run(n, 100_000)))).toEqual(orders.map((n) => 2 * n));
  });

  it('fails the jobs of a thread that ends, and starts another one for the next', async () => {
    await open(DOUBLE, 1);
    const [fatal, behind] = await Promise.allSettled([run(13), run(1)]);
    expect([fatal!.status, behind!.status]).toEqual(['rejected', 'rejected']);
    expect(await run(2)).toBe(4);
  });

  it('fails a job that cannot be sent, and gives no job the answer of another', async () => {
    await open(DOUBLE, 1);
    const lost = pool.run(1, () => {
      throw new RangeError('Array buffer allocation failed');
    });
    const others = [run(1), run(2)];
    await expect(lost).rejects.toThrow('Array buffer allocation failed');
    expect(await Promise.all(others)).toEqual([2, 4]);
  });

  it('gives up for good where threads end without ever answering', async () => {
    await open('process.exit(1);', 1);
    for (let tries = 0; tries < 3; tries++) await expect(run(1)).rejects.toThrow('A thread ended with 1');
    await expect(run(1)).rejects.toThrow('There are no threads');
  });

  it('fails what waits when it is closed, and whatever comes later', async () => {
    await open(`parentPort.on('message', () => undefined);`, 1);
    const waiting = run(1);
    const refused = expect(waiting).rejects.toThrow('A thread ended');
    await pool.close();
    await refused;
    await expect(run(2)).rejects.toThrow('There are no threads');
  });
});
