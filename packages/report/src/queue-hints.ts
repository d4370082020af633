import { KINDS } from '@packhouse/chain';
import type { QueueHints } from '@packhouse/database';
import { parseIngestJobId, parsePackJobId } from '@packhouse/pipeline';
import type { QueueReader } from '@packhouse/queue';
import { isPackhouseError } from '@packhouse/runtime';

/** Jobs that are read per state, of all networks; a planner keeps far fewer. */
const MAX_JOBS = 1_000;

type QueueSnapshot = Awaited<ReturnType<QueueReader['peek']>>;

/** The queue's state of a network; null if the queue is unavailable. */
export async function queueHints(
  queue: Pick<QueueReader, 'peek'> | undefined,
  network: string,
): Promise<QueueHints | null> {
  return (await queueHintsOf(queue, [network]))?.get(network) ?? null;
}

/** The queue's state of some networks, read once; null if the queue is unavailable. */
export async function queueHintsOf(
  queue: Pick<QueueReader, 'peek'> | undefined,
  networks: readonly string[],
): Promise<ReadonlyMap<string, QueueHints> | null> {
  if (queue === undefined) return null;
  try {
    const [ingest, pack] = await Promise.all([queue.peek('ingest', MAX_JOBS), queue.peek('pack', MAX_JOBS)]);
    return new Map(networks.map((network) => [network, toHints(network, ingest, pack)]));
  } catch (error) {
    if (isPackhouseError(error)) return null;
    throw error;
  }
}

function toHints(network: string, ingest: QueueSnapshot, pack: QueueSnapshot): QueueHints {
  const windows = (ids: readonly string[], running: boolean): QueueHints['windows'] =>
    ids.flatMap((id) => {
      const window = parseIngestJobId(network, id);
      return window === null || window.lastBlock < window.firstBlock ? [] : [{ ...window, running }];
    });
  const packed = pack.running.map((id) => parsePackJobId(network, id));
  return {
    windows: [...windows(ingest.running, true), ...windows(ingest.waiting, false)],
    packing: KINDS.filter((kind) => packed.includes(kind)),
  };
}
