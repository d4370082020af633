import { KINDS } from '@packhouse/chain';
import { type LocalRedis, silentContext } from '@packhouse/local';
import { createQueues, type QueueName } from '@packhouse/queue';
import type { SimulatedPostgres } from './postgres.js';

/** What goes wrong with the queues. Each gives how many jobs it hit. */
export interface QueueFaults {
  wipe(): Promise<number>;
  /** Takes away the tables themselves (on Redis: everything). */
  drop(): Promise<number>;
  delete(share: number, draw: () => number): Promise<number>;
  /** Running jobs belong to nobody any more. */
  loseLocks(): Promise<number>;
  /** Every ingest job once more, under another id. */
  twice(serial: number): Promise<number>;
  close(): Promise<void>;
}

interface Count {
  count: number;
}

/** Faults of queues in Postgres, as somebody with psql would make them. */
export function postgresQueueFaults(postgres: SimulatedPostgres): QueueFaults {
  const counted = async (text: string, values: unknown[] = []): Promise<number> => {
    try {
      const [row] = await postgres.sql<Count>(text, values);
      return Number(row?.count ?? 0);
    } catch (error) {
      // Its tables were taken away before, or the server is just being restarted.
      if (['42P01', '3F000', '42704'].includes((error as { code?: string }).code ?? '')) return 0;
      throw error;
    }
  };
  return {
    wipe: () => counted('WITH gone AS (DELETE FROM bullmq.job RETURNING 1) SELECT count(*) FROM gone'),
    async drop() {
      await postgres.sql('DROP SCHEMA IF EXISTS bullmq CASCADE');
      return 1;
    },
    async delete(share, draw) {
      const limit = Math.max(1, Math.round(20 * share * draw()));
      return counted(
        `WITH chosen AS (SELECT queue, id FROM bullmq.job ORDER BY md5(id) LIMIT $1),
              gone AS (DELETE FROM bullmq.job AS j USING chosen AS c
                       WHERE j.queue = c.queue AND j.id = c.id RETURNING 1)
         SELECT count(*) FROM gone`,
        [limit],
      );
    },
    loseLocks: () =>
      counted(
        `WITH lost AS (UPDATE bullmq.job SET lock_token = 'somebody-else', locked_until_ms = 0
                       WHERE state = 'active' RETURNING 1) SELECT count(*) FROM lost`,
      ),
    twice: (serial) =>
      counted(
        `WITH again AS (
           INSERT INTO bullmq.job (queue, id, seq, name, state, data, opts, priority, max_attempts, added_at_ms)
           SELECT queue, id || $1::text, seq, name, 'waiting', data, opts, priority, max_attempts, added_at_ms
           FROM bullmq.job WHERE queue LIKE '%ingest' AND state IN ('waiting', 'active')
           ON CONFLICT DO NOTHING RETURNING 1)
         SELECT count(*) FROM again`,
        [`-again-${serial}`],
      ),
    close: async () => undefined,
  };
}

const QUEUES: readonly QueueName[] = ['ingest', 'pack'];

/** Faults of queues in Redis. */
export async function redisQueueFaults(redis: LocalRedis): Promise<QueueFaults> {
  const queues = await createQueues({
    redisUrl: redis.url,
    context: silentContext(),
  });
  const pending = async (): Promise<{ queue: QueueName; id: string }[]> =>
    (
      await Promise.all(
        QUEUES.map(async (queue) => [...(await queues.pendingIds(queue))].map((id) => ({ queue, id }))),
      )
    ).flat();
  const flush = async (): Promise<number> => {
    const { length } = await pending();
    await redis.command('FLUSHALL');
    return length;
  };
  return {
    wipe: flush,
    drop: flush,
    async delete(share, draw) {
      const chosen = (await pending()).filter(() => draw() < share);
      for (const { queue, id } of chosen) await queues.remove(queue, [id]);
      return chosen.length;
    },
    async loseLocks() {
      const locks = (await pending()).map(({ queue, id }) => `packhouse:${queue}:j-${id}:lock`);
      if (locks.length > 0) await redis.command(`DEL ${locks.join(' ')}`);
      return locks.length;
    },
    async twice(serial) {
      const windows = (await pending()).flatMap(({ queue, id }) => {
        // The ids of ingest jobs say what they do: <network>.<start>.<end>.<kinds as bits>.
        const [network, start, end, bits] = id.split('.');
        if (queue !== 'ingest' || network === undefined || bits === undefined) return [];
        const kinds = KINDS.filter((_, bit) => (Number(bits) & (1 << bit)) !== 0);
        const payload = { network, firstBlock: Number(start), lastBlock: Number(end), kinds };
        return [{ id: `${id}-again-${serial}`, payload, priority: 1 }];
      });
      await queues.add('ingest', windows);
      return windows.length;
    },
    close: () => queues.close(),
  };
}
