import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { PackhouseError, ProcessMessage } from '@packhouse/runtime';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Supervised, supervise } from './supervise.js';

let folder: string;
let supervised: Supervised | undefined;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'packhouse-supervise-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await supervised?.stop();
  await rm(folder, { recursive: true });
});

/** Stays alive until SIGTERM, as a process that was started does. */
const STAY = "setInterval(() => {}, 1000); process.on('SIGTERM', () => process.exit(0));";
/** A condition that never comes fails the test, however slow the machine is. */
const WAIT = { timeout: 150_000, interval: 5 };
const READY = "process.send({ type: 'ready' });";

/** Supervises a program with this body; `run` in it is the number of this start, from 1 on. */
async function supervising(
  body: string,
  more: {
    putRight?: (code: string) => Promise<boolean>;
    restartMs?: number;
    env?: Record<string, string>;
  } = {},
) {
  const main = path.join(folder, 'child.mjs');
  const runs = path.join(folder, 'runs');
  await writeFile(
    main,
    `import { appendFileSync, readFileSync } from 'node:fs';
     appendFileSync(${JSON.stringify(runs)}, process.pid + '\\n');
     const run = readFileSync(${JSON.stringify(runs)}, 'utf8').trim().split('\\n').length;
     ${body}`,
  );
  const messages: ProcessMessage[] = [];
  const delays = vi.spyOn(globalThis, 'setTimeout');
  let gone: (error: PackhouseError) => void = () => undefined;
  const givenUp = new Promise<PackhouseError>((resolve) => {
    gone = resolve;
  });
  supervised = supervise({
    name: 'packer',
    main,
    env: () => ({ ...process.env, ...more.env }),
    logFile: path.join(folder, 'log'),
    onMessage: (_, message) => messages.push(message),
    onGone: gone,
    restartMs: more.restartMs ?? 3,
    ...(more.putRight === undefined ? {} : { putRight: more.putRight }),
  });
  return {
    supervised,
    messages,
    givenUp,
    /** The pauses that restarts were given, in order. */
    pauses: () =>
      delays.mock.calls.map(([, ms]) => ms).filter((ms) => ms !== undefined && ms > 0 && ms % 3 === 0),
    pids: async () => (await readFile(runs, 'utf8')).trim().split('\n').map(Number),
  };
}

const readyCount = (messages: ProcessMessage[]): number =>
  messages.filter((message) => message.type === 'ready').length;

test('a process that ends is started again, after pauses that double', async () => {
  const { supervised, pids, pauses } = await supervising(`if (run < 4) process.exit(70); ${READY} ${STAY}`);
  await supervised.ready;
  expect(await pids()).toHaveLength(4);
  expect(pauses()).toEqual([3, 6, 12]);
});

test('a process that was up and is killed is started again, and the pauses begin anew', async () => {
  const { supervised, messages, pids, pauses } = await supervising(`${READY} ${STAY}`);
  await supervised.ready;
  for (const times of [1, 2, 3]) {
    await vi.waitUntil(() => readyCount(messages) === times, WAIT);
    if (times < 3) process.kill((await pids()).at(-1) as number, 'SIGKILL');
  }
  expect(pauses()).toEqual([3, 3]);
});

test('what it says on the way is passed on, and its output goes to the log', async () => {
  const { supervised, messages } = await supervising(
    `console.error('a line'); process.send({ type: 'problem', code: 'NODE_TIMEOUT', message: 'slow' }); ${READY} ${STAY}`,
  );
  await supervised.ready;
  expect(messages).toEqual([{ type: 'problem', code: 'NODE_TIMEOUT', message: 'slow' }, { type: 'ready' }]);
  expect(await readFile(path.join(folder, 'log'), 'utf8')).toBe('a line\n');
});

test('one whose configuration is wrong is not started twice; its own last sentence is the error', async () => {
  const { supervised, givenUp, pids } = await supervising(
    `process.send({ type: 'fatal', code: 'OBJECT_STORE_INVALID', message: 'No such bucket. [OBJECT_STORE_INVALID]', exitCode: 78 }, () => process.exit(78));`,
  );
  const error = await givenUp;
  expect(error).toMatchObject({ code: 'OBJECT_STORE_INVALID', message: 'No such bucket.' });
  await expect(supervised.ready).rejects.toBe(error);
  expect(await pids()).toHaveLength(1);
});

test('one that never gets ready is given up after eight starts; the error names its log', async () => {
  const { supervised, givenUp, pids } = await supervising('process.exit(1);');
  const error = await givenUp;
  expect(error).toMatchObject({ code: 'CHILD_FAILED', hint: `See its log ${path.join(folder, 'log')}.` });
  expect(error.message).toBe('The packer keeps ending, last with code 1.');
  await expect(supervised.ready).rejects.toBe(error);
  expect(await pids()).toHaveLength(8);
});

test('what an earlier start said is not the reason of the last one', async () => {
  const { givenUp } = await supervising(
    `if (run > 1) process.kill(process.pid, 'SIGKILL');
     else process.send({ type: 'fatal', code: 'DATABASE_UNAVAILABLE', message: 'Postgres is gone.', exitCode: 69 }, () => process.exit(69));`,
  );
  expect((await givenUp).message).toBe('The packer keeps ending, last with SIGKILL.');
});

const FATAL = (code: string, exitCode: number): string =>
  `process.send({ type: 'fatal', code: '${code}', message: 'No.', exitCode: ${exitCode} }, () => process.exit(${exitCode}));`;

test('an end that is put right does not count and has no pause, as long as it was never ready', async () => {
  const heard: string[] = [];
  const { supervised, pids, pauses } = await supervising(
    `if (run < 12) { ${FATAL('PORT_IN_USE', 69)} } else { ${READY} ${STAY} }`,
    { putRight: async (code) => heard.push(code) > 0 },
  );
  await supervised.ready;
  expect(await pids()).toHaveLength(12);
  expect(new Set(heard)).toEqual(new Set(['PORT_IN_USE']));
  expect(pauses()).toEqual([]);
});

test('one that was ready before is not given up because something outside is missing', async () => {
  const { supervised, messages, pids } = await supervising(
    `if (run === 1 || run === 12) { ${READY} ${STAY} } else { ${FATAL('DATABASE_UNAVAILABLE', 69)} }`,
    // Ten pauses that double would be three seconds, of 3 ms at first.
    { restartMs: 0 },
  );
  await supervised.ready;
  process.kill((await pids())[0] as number, 'SIGKILL');
  await vi.waitUntil(() => readyCount(messages) === 2, WAIT);
  expect(await pids()).toHaveLength(12);
});

test('that it was killed is said', async () => {
  const { supervised, messages, pids } = await supervising(`${READY} ${STAY}`);
  await supervised.ready;
  process.kill((await pids())[0] as number, 'SIGKILL');
  await vi.waitUntil(() => readyCount(messages) === 2, WAIT);
  expect(messages).toContainEqual({
    type: 'problem',
    code: 'CHILD_FAILED',
    message: 'Ended with SIGKILL; restarting it.',
  });
});

test('stop ends it, waits until it is gone, and starts nothing more', async () => {
  const { supervised, pids } = await supervising(`${READY} ${STAY}`);
  await supervised.ready;
  await supervised.stop();
  const started = await pids();
  expect(started).toHaveLength(1);
  expect(() => process.kill(started[0] as number, 0)).toThrow('ESRCH');
  await supervised.stop();
});

test('stop in the pause before a restart starts nothing more', async () => {
  // A pause that outlasts the test: nothing can be started between the look and the stop.
  const { supervised, pids, pauses } = await supervising('process.exit(1);', { restartMs: 3_000_000 });
  const clear = vi.spyOn(globalThis, 'clearTimeout');
  await vi.waitUntil(() => pauses().includes(3_000_000), WAIT);
  await supervised.stop();
  expect(clear).toHaveBeenCalledWith(restartTimer());
  expect(await pids()).toHaveLength(1);

  /** The timer of the pause. */
  function restartTimer(): unknown {
    const { calls, results } = vi.mocked(globalThis.setTimeout).mock;
    return results[calls.findIndex(([, ms]) => ms === 3_000_000)]?.value;
  }
});

test('stop says whether it drained: a process that had to cut something off did not', async () => {
  const { supervised } = await supervising(
    `${READY} setInterval(() => {}, 1000); process.on('SIGTERM', () => process.exit(75));`,
  );
  await supervised.ready;
  expect(await supervised.stop()).toEqual({ clean: false });
});

test('a process that does not end by itself is killed a moment after its limit', async () => {
  const { supervised, pids } = await supervising(
    `${READY} setInterval(() => {}, 1000); process.on('SIGTERM', () => undefined);`,
    { env: { DRAIN_LIMIT_MS: '10' } },
  );
  await supervised.ready;
  expect(await supervised.stop()).toEqual({ clean: false });
  const [pid] = await pids();
  expect(() => process.kill(pid as number, 0)).toThrow('ESRCH');
});

test('kill ends it this instant and starts nothing more', async () => {
  const { supervised, pids } = await supervising(
    `${READY} setInterval(() => {}, 1000); process.on('SIGTERM', () => undefined);`,
  );
  await supervised.ready;
  supervised.kill();
  const [pid] = await pids();
  await vi.waitUntil(() => !isAlive(pid as number), WAIT);
  expect(await pids()).toHaveLength(1);
});

test('messages of types that nobody knows are passed on and do no harm', async () => {
  const { supervised, messages } = await supervising(
    `process.send({ type: 'mood', value: 'sunny' }); process.send({ type: 'ready', more: 1 }); ${STAY}`,
  );
  await supervised.ready;
  expect(messages).toEqual([
    { type: 'mood', value: 'sunny' },
    { type: 'ready', more: 1 },
  ]);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
