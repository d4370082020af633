import type { Queues } from '@packhouse/queue';
import { type Clock, openScope } from '@packhouse/runtime';

/** How long a queue may give no answer until it counts as lost, in milliseconds. */
const LOST_AFTER_MS = 15_000;
/** Once that is over, how long the next call still has. */
const LAST_TRY_MS = 1_000;

/** What a plan does with queues. */
type PlannedQueues = Pick<Queues, 'add' | 'pendingIds' | 'remove'>;

/**
 * The same queues; calls `onLost` while calls hang or fail and none was answered for 15 s. Costs nothing while nothing
 * is asked.
 */
export function watchQueue(
  queues: PlannedQueues,
  clock: Pick<Clock, 'elapsed' | 'sleep'>,
  onLost: () => void,
): PlannedQueues {
  let unansweredSince: number | undefined;
  const watched = async <T>(ask: () => Promise<T>): Promise<T> => {
    unansweredSince ??= clock.elapsed();
    const waiting = openScope();
    const leftMs = unansweredSince + LOST_AFTER_MS - clock.elapsed();
    clock.sleep(Math.max(LAST_TRY_MS, leftMs), waiting.signal).then(onLost, () => undefined);
    try {
      const answer = await ask();
      unansweredSince = undefined;
      return answer;
    } finally {
      waiting.abort(new Error('answered'));
    }
  };
  return {
    add: (queue, jobs) => watched(() => queues.add(queue, jobs)),
    pendingIds: (queue) => watched(() => queues.pendingIds(queue)),
    remove: (queue, ids) => watched(() => queues.remove(queue, ids)),
  };
}
