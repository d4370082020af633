import { randomBytes } from 'node:crypto';
import { redisInstalled } from '@packhouse/local';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import { createQueues } from './create-queues.js';
import type { Queues } from './queues.js';
import { context, gate, ingest, until } from './testing/fixtures.js';
import { postgresServer, redisServer, type Server } from './testing/servers.js';

const SERVERS: { name: string; present: boolean; start: () => Promise<Server> }[] = [
  { name: 'Postgres', present: true, start: postgresServer },
  { name: 'Redis', present: redisInstalled(), start: redisServer },
];

for (const { name, present, start } of SERVERS) {
  describe.skipIf(!present)(`kept jobs on ${name}${present ? '' : ' (needs redis-server)'}`, () => {
    let server: Server;
    let prefix: string;
    const opened: Queues[] = [];
    const open = async (kept: number): Promise<Queues> => {
      const queues = await createQueues({ ...server.url, prefix, context, attempts: 1, kept });
      opened.push(queues);
      return queues;
    };
    beforeAll(async () => {
      prefix = `t${randomBytes(4).toString('hex')}`;
      server = await start();
    });
    afterAll(() => server.stop());
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((queues) => queues.close()));
    });

    it('keeps the newest finished and failed ones, and an id that is kept runs again', async () => {
      const queues = await open(3);
      const other = await open(3);
      const ran: string[] = [];
      const running = gate();
      onTestFailed(running.open);
      await queues.work(
        'ingest',
        async ({ id }) => {
          ran.push(id);
          if (id === 'fails') throw new Error('no');
          if (id === 'runs') await running.opened;
        },
        { concurrency: 2 },
      );
      const ids = ['a', 'b', 'c', 'd', 'e', 'fails'];
      await queues.add(
        'ingest',
        ids.map((id) => ingest(id)),
      );
      await until(() => expect(ran).toHaveLength(6));
      await until(async () => expect(await queues.pendingIds('ingest')).toEqual(new Set()));
      const { completed = 0, failed } = await server.kept(prefix);
      expect(failed).toBe(1);
      // On Postgres, jobs that end at the same moment do not see each other when the oldest is removed.
      expect([3, 4]).toContain(completed);

      // As a plan does after a block was dropped; two planners at once add it once.
      await Promise.all([queues, other].map((each) => each.add('ingest', [ingest('e'), ingest('fails')])));
      await until(() => expect(ran.filter((id) => id === 'e').length).toBeGreaterThanOrEqual(2));
      await until(() => expect(ran.filter((id) => id === 'fails').length).toBeGreaterThanOrEqual(2));

      // A running job and one that waits keep their ids to themselves.
      await queues.add('ingest', [ingest('runs')]);
      await until(() => expect(ran).toContain('runs'));
      await other.add('ingest', [ingest('runs')]);
      await until(async () => expect(await queues.pendingIds('ingest')).toEqual(new Set(['runs'])));
      running.open();
      await until(async () => expect(await queues.pendingIds('ingest')).toEqual(new Set()));
      expect(ran.filter((id) => id === 'runs')).toHaveLength(1);
    });
  });
}
