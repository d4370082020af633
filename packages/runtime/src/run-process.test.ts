import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { type EventEmitter, once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { listenToNotify } from '@packhouse/local';
import { afterEach, describe, expect, it, vi } from 'vitest';

// Starting a program may take long if many others start at once.
let child: ChildProcess | undefined;
afterEach(() => child?.kill('SIGKILL'));

/** A process whose `start` is this code, with `settings`, `context`, `shutdown`, `notify` and `PackhouseError`. */
function run(start: string, options: { supervised?: boolean; env?: Record<string, string> } = {}) {
  const at = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);
  const code = `
    import { z } from 'zod';
    import { PackhouseError } from ${at('./catalogue.ts')};
    import { runProcess } from ${at('./run-process.ts')};
    await runProcess(process, {
      name: 'test',
      settings: z.object({ NEEDED: z.string().describe('a word'), LOG_LEVEL: z.enum(['silent', 'info']).optional(), DRAIN_LIMIT_MS: z.coerce.number().optional() }),
      async start({ settings, context, shutdown, notify }) { ${start} },
    });`;
  const started = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
    env: { PATH: process.env.PATH, NEEDED: 'x', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe', ...(options.supervised ? (['ipc'] as const) : [])],
  });
  child = started;
  const output = { out: '', err: '' };
  started.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output.out += text;
  });
  started.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output.err += text;
  });
  const messages: unknown[] = [];
  started.on('message', (message) => messages.push(message));
  // Not `close`: Node does not emit it after this side disconnected the channel.
  const ended = [
    once(started, 'exit'),
    once(started.stdout as object as EventEmitter, 'end'),
    once(started.stderr as object as EventEmitter, 'end'),
  ];
  const closed = Promise.all(ended).then(([exit]) => exit);
  return { child: started, output, messages, closed };
}
const hasProgram = (name: string) => spawnSync(name, ['--version'], { stdio: 'ignore' }).error === undefined;
const until = (check: () => unknown) => vi.waitFor(check, { timeout: 120_000, interval: 10 });
const ALIVE = "setInterval(() => undefined, 1_000); process.stdout.write('up ');";

describe('runProcess', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('drains on %s and exits with 0', async (signal) => {
    const { child, output, closed } = run(
      `${ALIVE} shutdown.add('part', () => process.stdout.write('closed'));`,
    );
    await until(() => expect(output.out).toBe('up '));
    child.kill(signal);
    expect(await closed).toEqual([0, null]);
    expect(output.out).toBe('up closed');
  });

  it('tells its supervisor when it is ready, leaves SIGINT to it, and ends with it', async () => {
    const { child, output, messages, closed } = run(`${ALIVE} notify({ type: 'listening', port: 7 });`, {
      supervised: true,
    });
    await until(() => expect(messages).toEqual([{ type: 'listening', port: 7 }, { type: 'ready' }]));
    for (const signal of ['SIGINT', 'SIGHUP'] as const) child.kill(signal);
    expect(output.out).toBe('up ');
    expect(child.exitCode).toBe(null);
    child.disconnect();
    expect(await closed).toEqual([0, null]);
  });

  it.skipIf(!hasProgram('systemd-notify') || !hasProgram('perl'))(
    'reports to systemd that it is ready (needs systemd and perl)',
    async () => {
      const socket = path.join(mkdtempSync(path.join(tmpdir(), 'notify-')), 'notify');
      const listener = await listenToNotify(socket);
      try {
        const { child, output, closed } = run(
          `const told = new Promise((resolve) => process.once('SIGUSR2', resolve)); ${ALIVE} await told; process.stdout.write('begun');`,
          { env: { NOTIFY_SOCKET: socket, LOG_LEVEL: 'info' } },
        );
        await until(() => expect(output.out).toBe('up '));
        expect(listener.messages()).toBe('');
        child.kill('SIGUSR2');
        await until(() => expect(listener.messages()).toMatch(/^READY=1$/m));
        child.kill('SIGTERM');
        expect(await closed).toEqual([0, null]);
        expect(output.err).not.toContain('systemd-notify');
      } finally {
        listener.close();
      }
    },
  );

  it('drains once at signals of the same moment', async () => {
    const { child, output, closed } = run(
      `const again = new Promise((resolve) => process.on('SIGINT', () => process.stdout.write('again ', resolve)));
       shutdown.add('part', () => again); ${ALIVE}`,
    );
    await until(() => expect(output.out).toBe('up '));
    child.kill('SIGTERM');
    child.kill('SIGINT');
    expect(await closed).toEqual([0, null]);
    expect(output.out).toBe('up again ');
  });

  it('ends with the exit code of the catalogue and one line that says why, to the supervisor too', async () => {
    const { output, messages, closed } = run(
      "throw new PackhouseError({ code: 'PORT_IN_USE', message: 'Port 80 is taken.', hint: 'Take another.' });",
      { supervised: true },
    );
    expect(await closed).toEqual([69, null]);
    expect(output.err).toBe('packhouse test: Port 80 is taken. Take another. [PORT_IN_USE]\n');
    expect(messages).toEqual([
      { type: 'fatal', code: 'PORT_IN_USE', message: expect.stringContaining('Port 80'), exitCode: 69 },
    ]);
  });

  it('refuses an environment that does not fit before it starts anything', async () => {
    const { output, closed } = run("process.stdout.write('started');", { env: { NEEDED: '' } });
    expect(await closed).toEqual([78, null]);
    expect(output).toEqual({
      out: '',
      err: expect.stringContaining('NEEDED: it is not set, expected a word'),
    });
  });

  it('dies of a rejection that nobody handled, and says so', async () => {
    const { output, closed } = run(
      `${ALIVE} setImmediate(() => void Promise.reject(new Error('forgotten at http://u:hunter2@node.example')));`,
    );
    expect(await closed).toEqual([70, null]);
    expect(output.err).toContain(
      'packhouse test: Packhouse failed: forgotten at http://***@node.example. [INTERNAL]\n',
    );
    expect(output.err).not.toContain('hunter2');
  });

  it('ends with 75 when something had to be cut off, and gives the rest its turn', async () => {
    const { child, output, closed } = run(
      `shutdown.add('rest', () => process.stdout.write('rest closed'));
       shutdown.add('stuck', () => new Promise(() => undefined)); ${ALIVE}`,
      { env: { DRAIN_LIMIT_MS: '300' } },
    );
    await until(() => expect(output.out).toBe('up '));
    child.kill('SIGTERM');
    expect(await closed).toEqual([75, null]);
    expect(output.out).toBe('up rest closed');
    expect(output.err).toContain('"parts":["stuck"]');
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('a second signal, %s, ends it at once', async (signal, code) => {
    const { child, output, closed } = run(
      `shutdown.add('stuck', () => { process.stdout.write('draining'); return new Promise(() => undefined); }); ${ALIVE}`,
      { env: { DRAIN_LIMIT_MS: '600000' } },
    );
    await until(() => expect(output.out).toBe('up '));
    child.kill('SIGTERM');
    await until(() => expect(output.out).toBe('up draining'));
    // One within the same moment is the first one again.
    const again = setInterval(() => child.kill(signal), 100);
    expect(await closed).toEqual([code, null]);
    clearInterval(again);
  });

  it('a rejection that nobody handled while it drains is logged and does not keep the rest from closing', async () => {
    const { child, output, closed } = run(
      `shutdown.add('last', () => process.stdout.write('closed'));
       shutdown.add('first', async () => {
         void Promise.reject(new Error('a straggler'));
         await new Promise((resolve) => process.once('unhandledRejection', () => setImmediate(resolve)));
       }); ${ALIVE}`,
    );
    await until(() => expect(output.out).toBe('up '));
    child.kill('SIGTERM');
    expect(await closed).toEqual([0, null]);
    expect(output.out).toBe('up closed');
    expect(output.err).toContain('unhandled rejection while draining');
  });

  it('told to end while it still starts, it ends cleanly though the start fails by that', async () => {
    const { child, output, closed } = run(
      `${ALIVE} await new Promise((_, reject) => context.signal.addEventListener('abort', () => reject(context.signal.reason)));`,
    );
    await until(() => expect(output.out).toBe('up '));
    child.kill('SIGTERM');
    expect(await closed).toEqual([0, null]);
    expect(output.err).not.toContain('packhouse test:');
  });

  it('turns warnings of Node and of libraries into lines of its log, each of them once', async () => {
    const { output, closed } = run(
      `process.emitWarning('The SDK\\nwill require node >=22.', 'NodeVersionSupportWarning');
       process.emitWarning('old', { type: 'DeprecationWarning', code: 'DEP0999' });
       process.emitWarning('new', 'ExperimentalWarning');
       process.emitWarning('new', 'ExperimentalWarning');
       for (let at = 0; at < 30; at++) process.on('x', () => at);
       for (let at = 0; at < 3; at++) console.warn('Eviction policy is %s', 'lru');
       console.error(new Error('lost at http://u:hunter2@node.example').message);
       setImmediate(() => process.exit(0));`,
    );
    expect(await closed).toEqual([0, null]);
    const lines = output.err
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ level, source, code, msg }) => [level, source, code, msg])).toEqual(
      expect.arrayContaining([
        ['warn', 'NodeVersionSupportWarning', undefined, 'The SDK\nwill require node >=22.'],
        ['warn', 'DeprecationWarning', 'DEP0999', 'old'],
        ['warn', 'ExperimentalWarning', undefined, 'new'],
        ['warn', 'MaxListenersExceededWarning', undefined, expect.stringContaining('x listeners added')],
        ['warn', 'console.warn', undefined, 'Eviction policy is lru'],
        ['warn', 'console.error', undefined, 'lost at http://***@node.example'],
      ]),
    );
    expect(lines.map(({ msg }) => msg).filter((msg) => /^(new|Eviction.*)$/.test(msg))).toHaveLength(2);
  });
});
