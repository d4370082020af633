import type { Database, Standing } from '@packhouse/database';
import type { QueueReader } from '@packhouse/queue';
import type { CoverageParts } from '@packhouse/report';
import type { Clock } from '@packhouse/runtime';
import pLimit from 'p-limit';
import { createTtlCache } from '../cache/ttl-cache.js';

/** How long the same question gets the same answer, in milliseconds. */
const REUSE_MS = 1_000;
const MAX_REMEMBERED = 1_000;
/** Questions to the database at a time: pointers need its connections more. */
const MAX_QUESTIONS = 3;

/** Reads coverage, sparing the database and the queue: the same query runs at most once per second. */
export function createCachedCoverage(parts: {
  database: Database;
  queue: QueueReader | undefined;
  clock: Clock;
}): CoverageParts {
  const remember = createTtlCache(parts.clock, REUSE_MS, MAX_REMEMBERED);
  const turn = pLimit(MAX_QUESTIONS);
  const sparing =
    <Q, A>(name: string, ask: (question: Q) => Promise<A>) =>
    (question: Q): Promise<A> =>
      remember(`${name} ${JSON.stringify(question)}`, () => turn(() => ask(question)));
  const { queue } = parts;
  return {
    database: {
      network: (id) => {
        const { holes } = parts.database.network(id);
        return {
          holes: {
            page: sparing(`page ${id}`, holes.page),
            count: sparing(`count ${id}`, holes.count),
            isScattered: sparing(`scattered ${id}`, holes.isScattered),
            standing: sparing<void, Standing>(`standing ${id}`, holes.standing),
          },
        };
      },
    },
    queue:
      queue === undefined
        ? undefined
        : { peek: (name, limit) => remember(`look ${name} ${limit}`, () => queue.peek(name, limit)) },
  };
}
