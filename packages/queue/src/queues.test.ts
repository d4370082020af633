import { randomBytes } from 'node:crypto';
import { redisInstalled } from '@packhouse/local';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createQueueReader, type QueueReader } from './create-queue-reader.js';
import { createQueues, type QueuesOptions } from './create-queues.js';
import type { Job, JobRequest, QueueSnapshot, Queues } from './queues.js';
import { context, gate, ingest, killableWorker, lines, until } from './testing/fixtures.js';
import { postgresServer, redisServer, type Server } from './testing/servers.js';

/** Long enough to be renewed in time on a busy machine. */
const LOCK_MS = 15_000;
/** For tests that must wait until a lock expires. */
const SHORT_LOCK_MS = 1_500;

const SERVERS: { name: string; present: boolean; start: () => Promise<Server> }[] = [
  { name: 'Postgres', present: true, start: postgresServer },
  { name: 'Redis', present: redisInstalled(), start: redisServer },
];

for (const { name, present, start } of SERVERS) {
  describe.skipIf(!present)(`queues on ${name}${present ? '' : ' (needs redis-server)'}`, () => {
    let server: Server;
    let prefix: string;
    const opened: Queues[] = [];
    const readers: QueueReader[] = [];
    const open = async (more: Partial<QueuesOptions> = {}): Promise<Queues> => {
      const queues = await createQueues({
        ...server.url,
        prefix,
        context,
        backoffMs: 10,
        lockMs: LOCK_MS,
        ...more,
      });
      opened.push(queues);
      return queues;
    };

    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server.stop());
    afterEach(async () => {
      await Promise.all(readers.splice(0).map((reader) => reader.close()));
      await Promise.all(opened.splice(0).map((queues) => queues.close()));
    });
    const fresh = async (more?: Partial<QueuesOptions>): Promise<Queues> => {
      prefix = `t${randomBytes(4).toString('hex')}`;
      lines.length = 0;
      return open(more);
    };

    const getReader = (): QueueReader => {
      const reader = createQueueReader({ ...server.url, prefix, context, timeoutMs: 60_000 });
      readers.push(reader);
      return reader;
    };

    it('runs a job with its payload and forgets it when it is done', async () => {
      const queues = await fresh();
      const taken: Job<'ingest'>[] = [];
      await queues.work('ingest', async (job) => void taken.push(job), { concurrency: 1 });
      await queues.add('ingest', [ingest('window-0', 100)]);
      await until(() => expect(taken).toHaveLength(1));
      expect(taken[0]).toMatchObject({
        id: 'window-0',
        attempt: 1,
        payload: { network: 'demo', firstBlock: 100, lastBlock: 109, kinds: ['blocks', 'logs'] },
      });
      await until(async () => expect(await queues.pendingIds('ingest')).toEqual(new Set()));
      await queues.add('ingest', [ingest('window-0', 100)]);
      await until(() => expect(taken).toHaveLength(2));
    });

    it('leaves a job that is already there as it is, in one call and across processes', async () => {
      const queues = await fresh();
      const other = await open();
      await queues.add('ingest', [ingest('same', 1), ingest('same', 2)]);
      await other.add('ingest', [ingest('same', 3), ingest('else', 4)]);
      expect(await queues.pendingIds('ingest')).toEqual(new Set(['same', 'else']));
      const starts: number[] = [];
      const note = async (job: { payload: { firstBlock: number } }) =>
        void starts.push(job.payload.firstBlock);
      await queues.work('ingest', note, { concurrency: 1 });
      await until(() => expect(starts.sort()).toEqual([1, 4]));
    });

    it('accepts ids that are numbers or that the store itself uses', async () => {
      const queues = await fresh();
      const ids = ['1', 'delayed', 'meta', 'id', 'wait', 'events'];
      await queues.add(
        'ingest',
        ids.map((id) => ingest(id)),
      );
      expect(await queues.pendingIds('ingest')).toEqual(new Set(ids));
      const ran: string[] = [];
      await queues.work('ingest', async (job) => void ran.push(job.id), { concurrency: 1 });
      await until(() => expect(ran).toEqual(ids));
    });

    it('takes the smallest priority first, and the oldest within one priority', async () => {
      const queues = await fresh();
      await queues.add('ingest', [ingest('low', 0, 900), ingest('mid-a', 0, 5), ingest('mid-b', 0, 5)]);
      await queues.add('ingest', [ingest('high', 0, 1)]);
      const order: string[] = [];
      await queues.work('ingest', async (job) => void order.push(job.id), { concurrency: 1 });
      await until(() => expect(order).toHaveLength(4));
      expect(order).toEqual(['high', 'mid-a', 'mid-b', 'low']);
    });

    it('tries a failed job again until it succeeds, counting the attempts', async () => {
      const queues = await fresh();
      const attempts: number[] = [];
      await queues.work(
        'ingest',
        async (job) => {
          attempts.push(job.attempt);
          if (job.attempt < 3) throw new Error(`no luck at ${'http://user:secret@node.example/key'}`);
        },
        { concurrency: 1 },
      );
      await queues.add('ingest', [ingest('stubborn')]);
      await until(async () => expect(await queues.pendingIds('ingest')).toEqual(new Set()));
      await until(() => expect(attempts).toEqual([1, 2, 3]));
      expect(lines.join('')).toContain('will be tried again');
      expect(lines.join('')).not.toContain('secret');
    });

    it('frees the id of a job that failed its last try', async () => {
      const queues = await fresh({ attempts: 2 });
      let tries = 0;
      await queues.work(
        'ingest',
        async () => {
          tries += 1;
          throw new Error('never');
        },
        { concurrency: 1 },
      );
      await queues.add('ingest', [ingest('hopeless')]);
      await until(async () => {
        expect(tries).toBe(2);
        expect(await queues.pendingIds('ingest')).toEqual(new Set());
      });
      expect(lines.some((line) => line.includes('failed on its last try'))).toBe(true);
      await queues.add('ingest', [ingest('hopeless')]);
      await until(() => expect(tries).toBe(4));
    });

    /** Queues with a job that will be tried again, two that run until `running` is opened, and one that waits. */
    async function freshWithJobs() {
      const queues = await fresh({ backoffMs: 60_000 });
      const running = gate();
      await queues.work(
        'ingest',
        async (job) => {
          if (job.id === 'fails') throw new Error('later');
          await running.opened;
        },
        { concurrency: 2 },
      );
      await queues.add('ingest', [ingest('fails', 0, 1), ingest('runs-1', 0, 2), ingest('runs-2', 0, 3)]);
      await queues.add('ingest', [ingest('waits', 0, 4)]);
      return { queues, running };
    }

    it('lists waiting, delayed and running jobs as pending', async () => {
      const { queues, running } = await freshWithJobs();
      await until(() => expect(lines.join('')).toContain('will be tried again'));
      expect(await queues.pendingIds('ingest')).toEqual(new Set(['fails', 'runs-1', 'runs-2', 'waits']));
      expect(await queues.pendingIds('pack')).toEqual(new Set());
      running.open();
      await until(async () => expect(await queues.pendingIds('ingest')).toEqual(new Set(['fails'])));
    });

    it('tells jobs that run from jobs that wait, as many as are asked for', async () => {
      const { queues, running } = await freshWithJobs();
      const reader = getReader();
      const ids = ({ running, waiting }: QueueSnapshot) => [running.sort(), waiting.sort()];
      await until(async () =>
        expect(ids(await reader.peek('ingest', 10))).toEqual([
          ['runs-1', 'runs-2'],
          ['fails', 'waits'],
        ]),
      );
      expect(ids(await queues.peek('ingest', 10))).toEqual(ids(await reader.peek('ingest', 10)));
      expect(ids(await queues.peek('ingest', 1)).map((some) => some.length)).toEqual([1, 1]);
      expect(await reader.peek('pack', 10)).toEqual({ running: [], waiting: [] });
      running.open();
    });

    it('leaves a paused queue as it is when it only looks', async () => {
      await (await fresh()).add('ingest', [ingest('left')]);
      await server.pause(prefix);
      expect(await getReader().peek('ingest', 5)).toEqual({ running: [], waiting: ['left'] });
      expect(await server.isPaused(prefix)).toBe(true);
    });

    it('removes waiting and delayed jobs and leaves running ones', async () => {
      const queues = await fresh({ backoffMs: 60_000 });
      const running = gate();
      const started: string[] = [];
      const ended: string[] = [];
      await queues.work(
        'ingest',
        async (job) => {
          if (job.id === 'delayed') throw new Error('later');
          started.push(job.id);
          await running.opened;
          ended.push(job.id);
        },
        { concurrency: 1 },
      );
      await queues.add('ingest', [ingest('delayed', 0, 1), ingest('running', 0, 2), ingest('waiting', 0, 3)]);
      await until(() => expect(lines.join('')).toContain('will be tried again'));
      await until(() => expect(started).toEqual(['running']));
      await queues.remove('ingest', ['delayed', 'running', 'waiting', 'never-there']);
      expect(await queues.pendingIds('ingest')).toEqual(new Set(['running']));
      running.open();
      await until(() => expect(ended).toEqual(['running']));
    });

    it('works on after all its jobs were taken away while some run', async () => {
      const queues = await fresh();
      const running = gate();
      const ran: string[] = [];
      await queues.work(
        'ingest',
        async (job) => {
          ran.push(job.id);
          if (job.id === 'running') await running.opened;
        },
        { concurrency: 1 },
      );
      await queues.add('ingest', [ingest('running', 0, 1)]);
      await until(() => expect(ran).toEqual(['running']));
      await queues.add(
        'ingest',
        Array.from({ length: 50 }, (_, index) => ingest(`w-${index}`, index, 9)),
      );
      await server.wipe(prefix);
      expect(await queues.pendingIds('ingest')).toEqual(new Set());
      running.open();
      await queues.add('ingest', [ingest('after')]);
      await until(() => expect(ran).toEqual(['running', 'after']));
    });

    it('goes on with a queue that another program paused', async () => {
      const first = await fresh();
      await first.add('ingest', [ingest('left')]);
      await server.pause(prefix);
      const second = await open();
      const ran: string[] = [];
      await second.work('ingest', async (job) => void ran.push(job.id), { concurrency: 1 });
      await second.add('ingest', [ingest('next')]);
      await until(() => expect(ran.sort()).toEqual(['left', 'next']));
    });

    it('removes a malformed job with a log line and takes the next one', async () => {
      const queues = await fresh();
      await queues.add('ingest', []);
      await queues.pendingIds('ingest');
      const reversed = { network: 'demo', firstBlock: 9, lastBlock: 1, kinds: ['blocks'] };
      await server.smuggle(prefix, 'bad-range', reversed);
      await server.smuggle(prefix, 'bad-shape', ['not', 'an', 'object']);
      const ran: string[] = [];
      await queues.work('ingest', async (job) => void ran.push(job.id), { concurrency: 1 });
      await queues.add('ingest', [ingest('good', 0, 1000)]);
      await until(() => expect(ran).toEqual(['good']));
      await until(async () => expect(await queues.pendingIds('ingest')).toEqual(new Set()));
      const said = lines.filter((line) => line.includes('malformed job removed'));
      expect(said).toHaveLength(2);
      expect(said.join('')).toMatch(/bad-range.*firstBlock is beyond lastBlock.*QUEUE_PAYLOAD_INVALID/);
    });

    it('refuses malformed jobs when they are added, and adds none of that call', async () => {
      const queues = await fresh();
      const bad: JobRequest<'ingest'>[] = [
        { ...ingest('a:b') },
        { ...ingest('') },
        { ...ingest('x'), priority: 0 },
        { ...ingest('x'), payload: { network: 'UPPER', firstBlock: 0, lastBlock: 1, kinds: ['blocks'] } },
        { ...ingest('x'), payload: { network: 'demo', firstBlock: -1, lastBlock: 1, kinds: [] } },
      ];
      for (const request of bad) {
        await expect(queues.add('ingest', [ingest('fine'), request])).rejects.toMatchObject({
          code: 'QUEUE_PAYLOAD_INVALID',
        });
      }
      expect(await queues.pendingIds('ingest')).toEqual(new Set());
    });

    it('never runs one job on two workers at once, however long it takes', async () => {
      const queues = await fresh({ lockMs: 4_000 });
      const other = await open({ lockMs: 4_000 });
      const now = new Map<string, number>();
      const runs = new Map<string, number>();
      let twice = 0;
      const slow = gate();
      // An id is free again when its job is done: no job may end before both have added all of them.
      const added = gate();
      const handler = async (job: Job<'ingest'>): Promise<void> => {
        const count = (now.get(job.id) ?? 0) + 1;
        if (count > 1) twice += 1;
        now.set(job.id, count);
        runs.set(job.id, (runs.get(job.id) ?? 0) + 1);
        if (job.id === 'slow') await slow.opened;
        else await added.opened;
        now.set(job.id, (now.get(job.id) ?? 1) - 1);
      };
      await queues.work('ingest', handler, { concurrency: 4 });
      await other.work('ingest', handler, { concurrency: 4 });
      const requests = Array.from({ length: 100 }, (_, index) => ingest(`job-${index}`, index));
      await Promise.all([queues.add('ingest', [ingest('slow'), ...requests]), other.add('ingest', requests)]);
      added.open();
      // The slow job runs several times longer than its lock: only renewal keeps it.
      const begun = Date.now();
      await until(() => {
        expect(runs.size).toBe(101);
        expect(Date.now() - begun).toBeGreaterThan(9_000);
      });
      slow.open();
      await until(async () => expect(await queues.pendingIds('ingest')).toEqual(new Set()));
      expect(twice).toBe(0);
      expect([...runs.values()].every((count) => count === 1)).toBe(true);
    });

    it('waits for the running job when it closes and takes no further one', async () => {
      const queues = await fresh();
      const running = gate();
      const ran: string[] = [];
      const worker = await queues.work(
        'ingest',
        async (job) => {
          ran.push(job.id);
          await running.opened;
          ran.push(`${job.id} ended`);
        },
        { concurrency: 1 },
      );
      await queues.add('ingest', [ingest('first', 0, 1), ingest('second', 0, 2)]);
      await until(() => expect(ran).toEqual(['first']));
      let closed = false;
      const closing = worker.close().then(() => {
        closed = true;
      });
      await queues.pendingIds('ingest');
      expect(closed).toBe(false);
      running.open();
      await closing;
      expect(ran).toEqual(['first', 'first ended']);
      expect(await queues.pendingIds('ingest')).toEqual(new Set(['second']));
    });

    it('aborts the signal of running jobs when it has to stop at once', async () => {
      const queues = await fresh({ backoffMs: 60_000 });
      let began = false;
      const worker = await queues.work(
        'ingest',
        (job) =>
          new Promise((_, reject) => {
            began = true;
            job.signal.addEventListener('abort', () => reject(job.signal.reason));
          }),
        { concurrency: 1 },
      );
      await queues.add('ingest', [ingest('endless')]);
      await until(() => expect(began).toBe(true));
      await worker.close({ now: true });
      expect(await queues.pendingIds('ingest')).toEqual(new Set(['endless']));
    });

    it('runs the job of a killed process again (invariant 5)', async () => {
      const queues = await fresh({ lockMs: SHORT_LOCK_MS });
      await queues.add('ingest', [ingest('orphan')]);
      const child = await killableWorker({ ...server.url, prefix, lockMs: SHORT_LOCK_MS });
      await until(() => expect(child.said()).toContain('took orphan'));
      child.kill();
      const again: number[] = [];
      await queues.work('ingest', async (job) => void again.push(job.attempt), { concurrency: 1 });
      await until(() => expect(again).toEqual([1]));
      await until(async () => expect(await queues.pendingIds('ingest')).toEqual(new Set()));
    });

    it('a job that is cut off by a drain is given back: another takes it up at once, as if it had not been tried', async () => {
      const drain = new AbortController();
      const leaving = await fresh({ context: { ...context, signal: drain.signal } });
      const staying = await open({ backoffMs: 600_000 });
      const began: string[] = [];
      const cutOff = await leaving.work(
        'ingest',
        (job) =>
          new Promise((_, reject) => {
            began.push(job.id);
            drain.signal.addEventListener('abort', () => reject(drain.signal.reason as Error));
          }),
        { concurrency: 2 },
      );
      await leaving.add('ingest', [ingest('one', 0, 1), ingest('two', 10, 1), ingest('waiting', 20, 2)]);
      await until(() => expect(began.sort()).toEqual(['one', 'two']));
      drain.abort(new Error('shutting down'));
      await cutOff.close();
      expect(await staying.pendingIds('ingest')).toEqual(new Set(['one', 'two', 'waiting']));
      expect(await staying.counts('ingest')).toEqual({ waiting: 3, delayed: 0, active: 0 });
      expect(began.sort()).toEqual(['one', 'two']);
      const taken: [string, number][] = [];
      await staying.work('ingest', async (job) => void taken.push([job.id, job.attempt]), { concurrency: 1 });
      await until(() => expect(taken).toHaveLength(3));
      // Returned jobs come before jobs of lower priority, and this is their first try.
      expect(taken.slice(0, 2).sort()).toEqual([
        ['one', 1],
        ['two', 1],
      ]);
      expect(taken[2]).toEqual(['waiting', 1]);
      expect(lines.join('')).not.toContain('will be tried again');
    });

    it('a job that succeeds while its worker drains is done', async () => {
      const drain = new AbortController();
      const queues = await fresh({ context: { ...context, signal: drain.signal } });
      const other = await open();
      const running = gate();
      let began = false;
      const worker = await queues.work(
        'ingest',
        async () => {
          began = true;
          await running.opened;
        },
        { concurrency: 1 },
      );
      await queues.add('ingest', [ingest('last')]);
      await until(() => expect(began).toBe(true));
      drain.abort(new Error('shutting down'));
      running.open();
      await worker.close();
      expect(await other.pendingIds('ingest')).toEqual(new Set());
    });

    it('ignores fields that it does not know, and leaves a job of kinds that it does not know to others', async () => {
      const queues = await fresh();
      await queues.pendingIds('ingest');
      const window = { network: 'demo', firstBlock: 0, lastBlock: 9, kinds: ['blocks'] };
      await server.smuggle(prefix, 'more-fields', { ...window, hurry: true });
      await server.smuggle(prefix, 'new-kind', { ...window, kinds: ['blocks', 'blobs'] });
      const taken: Job<'ingest'>[] = [];
      await queues.work('ingest', async (job) => void taken.push(job), { concurrency: 1 });
      await until(() => expect(lines.join('')).toContain('job of a newer version left for it'));
      await until(() => expect(taken.map((job) => job.payload)).toEqual([window]));
      await until(async () =>
        expect(await queues.counts('ingest')).toEqual({ waiting: 0, delayed: 1, active: 0 }),
      );
      expect(lines.join('')).not.toContain('malformed job removed');
    });

    it('leaves a job that its worker cannot run to one that can', async () => {
      const queues = await fresh();
      await queues.add('ingest', [ingest('foreign', 7), ingest('own', 8)]);
      const taken: string[] = [];
      const takes = ({ firstBlock }: { firstBlock: number }) => firstBlock === 8;
      await queues.work('ingest', async ({ id }) => void taken.push(id), { concurrency: 1, takes });
      await until(async () => expect((await queues.counts('ingest')).delayed).toBe(1));
      await until(() => expect(taken).toEqual(['own']));
      expect((await queues.peek('ingest', 5)).waiting).toEqual(['foreign']);
    });

    it('counts jobs by where they stand', async () => {
      const queues = await fresh({ backoffMs: 60_000 });
      const running = gate();
      await queues.work(
        'ingest',
        async (job) => {
          if (job.id === 'fails') throw new Error('later');
          await running.opened;
        },
        { concurrency: 1 },
      );
      await queues.add('ingest', [ingest('fails', 0, 1), ingest('runs', 0, 2), ingest('waits', 0, 3)]);
      await until(async () =>
        expect(await queues.counts('ingest')).toEqual({ waiting: 1, delayed: 1, active: 1 }),
      );
      expect(await queues.counts('pack')).toEqual({ waiting: 0, delayed: 0, active: 0 });
      running.open();
    });

    it('refuses work after it was closed, by name', async () => {
      const queues = await fresh();
      await queues.close();
      await expect(queues.add('ingest', [ingest('late')])).rejects.toMatchObject({
        code: 'QUEUE_UNAVAILABLE',
      });
      await queues.close();
    });
  });
}
