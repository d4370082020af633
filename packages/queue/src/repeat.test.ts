import { randomBytes } from 'node:crypto';
import { redisInstalled } from '@packhouse/local';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createQueues } from './create-queues.js';
import type { Job, Queues, Recurring } from './queues.js';
import { context, until } from './testing/fixtures.js';
import { postgresServer, redisServer, type Server } from './testing/servers.js';

const SERVERS: { name: string; present: boolean; start: () => Promise<Server> }[] = [
  { name: 'Postgres', present: true, start: postgresServer },
  { name: 'Redis', present: redisInstalled(), start: redisServer },
];

for (const { name, present, start } of SERVERS) {
  describe.skipIf(!present)(`repeated jobs on ${name}${present ? '' : ' (needs redis-server)'}`, () => {
    let server: Server;
    let prefix: string;
    const opened: Queues[] = [];
    const open = async (): Promise<Queues> => {
      const queues = await createQueues({ ...server.url, prefix, context, backoffMs: 10 });
      opened.push(queues);
      return queues;
    };
    const fresh = (): Promise<Queues> => {
      prefix = `t${randomBytes(4).toString('hex')}`;
      return open();
    };
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server.stop());
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((queues) => queues.close()));
    });
    const often: Recurring = { schedule: 'often', everyMs: 200, from: 0 };
    /** Days away whenever the test runs. */
    const yearly: Recurring = {
      schedule: 'yearly',
      zone: 'Europe/Berlin',
      pattern: `30 2 ${new Date(Date.now() + 10 * 86_400_000).getUTCDate()} ${new Date(Date.now() + 10 * 86_400_000).getUTCMonth() + 1} *`,
    };
    const waiting = async (queues: Queues): Promise<string[]> =>
      (await queues.peek('schedule', 10)).waiting.sort();

    it('come at their times, each with the time it was due at, on one of several workers', async () => {
      const queues = await fresh();
      const other = await open();
      const taken: Job<'schedule'>[] = [];
      for (const each of [queues, other]) {
        await each.work('schedule', async (job) => void taken.push(job), { concurrency: 2 });
      }
      const from = Date.now() + 300;
      await queues.repeat([{ ...often, from }, yearly]);
      await until(() => expect(taken.length).toBeGreaterThan(3));
      expect(taken.every(({ payload }) => payload.schedule === 'often')).toBe(true);
      const dues = taken.map(({ due }) => due as number);
      expect(dues[0]).toBe(from);
      expect(new Set(dues).size).toBe(dues.length);
      expect([...dues].sort((a, b) => a - b)).toEqual(dues);
      await queues.repeat([]);
      await until(async () => expect(await waiting(queues)).toEqual([]));
    });

    it('stay as they are when nothing changed, move with their pattern, and go when they are not wanted', async () => {
      const queues = await fresh();
      await queues.repeat([yearly]);
      const [first] = await waiting(queues);
      expect(first).toMatch(/^repeat:yearly:\d{13}$/);
      await (await open()).repeat([yearly]);
      expect(await waiting(queues)).toEqual([first]);
      await queues.repeat([{ ...yearly, zone: 'Asia/Tokyo' }]);
      const [moved, ...more] = await waiting(queues);
      expect(more).toEqual([]);
      expect(moved).not.toBe(first);
      await queues.repeat([]);
      expect(await waiting(queues)).toEqual([]);
    });

    it('come back after the next job alone was lost, which nothing else would ever repeat', async () => {
      const queues = await fresh();
      await queues.repeat([yearly]);
      const before = await waiting(queues);
      await server.loseRepeated(prefix);
      expect(await waiting(queues)).toEqual([]);
      await queues.repeat([yearly]);
      expect(await waiting(queues)).toEqual(before);
    });
  });
}
