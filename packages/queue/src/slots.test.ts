import { randomBytes } from 'node:crypto';
import { redisInstalled } from '@packhouse/local';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createQueues } from './create-queues.js';
import type { Job, Queues } from './queues.js';
import { context, gate, ingest, until } from './testing/fixtures.js';
import { postgresServer, redisServer, type Server } from './testing/servers.js';

const SERVERS: { name: string; present: boolean; start: () => Promise<Server> }[] = [
  { name: 'Postgres', present: true, start: postgresServer },
  { name: 'Redis', present: redisInstalled(), start: redisServer },
];

for (const { name, present, start } of SERVERS) {
  describe.skipIf(!present)(`slots on ${name}${present ? '' : ' (needs redis-server)'}`, () => {
    const prefix = `t${randomBytes(4).toString('hex')}`;
    let server: Server;
    const opened: Queues[] = [];
    const open = async (): Promise<Queues> => {
      const queues = await createQueues({ ...server.url, prefix, context });
      opened.push(queues);
      return queues;
    };
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server.stop());
    afterEach(() => Promise.all(opened.splice(0).map((queues) => queues.close())));

    it('runs the jobs of a group beside those of one that never ends, and gives back what did not begin', async () => {
      const [queues, other] = [await open(), await open()];
      const held = gate();
      const ran: string[] = [];
      const handler = async ({ id, payload }: Job<'ingest'>): Promise<void> => {
        ran.push(id);
        if (payload.network === 'slow') await held.opened;
      };
      const groups = { of: ({ network }: { network: string }) => network, room: 4 };
      const worker = await queues.work('ingest', handler, { concurrency: 2, groups });
      const slow = Array.from({ length: 9 }, (_, i) => ingest(`slow-${i}`, i, 1, 'slow'));
      await queues.add('ingest', slow);
      await until(async () => expect((await queues.peek('ingest', 9)).running).toHaveLength(4));
      const quick = Array.from({ length: 20 }, (_, i) => ingest(`quick-${i}`, i, 900, 'quick'));
      await queues.add('ingest', quick);
      await until(() => expect(ran.filter((id) => id.startsWith('quick'))).toHaveLength(20));
      expect(ran.filter((id) => id.startsWith('slow'))).toEqual(['slow-0', 'slow-1']);

      const closing = worker.close();
      await until(async () => expect((await queues.peek('ingest', 9)).running).toHaveLength(2));
      await other.work('ingest', handler, { concurrency: 2, groups });
      await until(() => expect(ran.filter((id) => id.startsWith('slow'))).toHaveLength(4));
      held.open();
      await closing;
      await until(() => expect(new Set(ran).size).toBe(29));
      expect(ran).toHaveLength(29);
    });
  });
}
