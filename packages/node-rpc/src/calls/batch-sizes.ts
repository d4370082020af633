import { type Clock, getOrAdd } from '@packhouse/runtime';

const START = 16;
const LARGEST = 100;
/** Answers of about this many bytes keep the overhead of a request small; a call above half of it is sent alone. */
const TARGET_BYTES = 400_000;
/** The time of a batch, relative to the best seen, up to which it counts as quick. */
const QUICK_MS = 2_000;
/** After this time a size that was too large is tried again. */
const CEILING_MS = 300_000;

/** The number of calls in one request. */
export type BatchSizes = ReturnType<typeof createBatchSizes>;

/** A batch that was answered. */
interface Batch {
  calls: number;
  weight: number;
  bytes: number;
  elapsedMs: number;
}

/** Creates the batch sizes of one upstream, learned for each method; `largest` is its rate limit if it has one. */
export function createBatchSizes(options: { clock: Clock; largest?: number | undefined }) {
  const largest = Math.min(LARGEST, options.largest ?? LARGEST);
  const unknown = () => ({
    cap: Math.min(START, largest),
    ceiling: largest,
    ceilingSince: 0,
    bytesPerWeight: null as number | null,
    bestMs: Number.POSITIVE_INFINITY,
  });
  const methods = new Map<string, ReturnType<typeof unknown>>();
  const learned = (method: string) => getOrAdd(methods, method, unknown);

  return {
    /** Cuts calls of one method into batches by their expected bytes. */
    plan: <C extends { weight: number }>(method: string, calls: readonly C[]): C[][] => {
      const { cap, bytesPerWeight } = learned(method);
      const batches: C[][] = [];
      let batch: C[] = [];
      let bytes = 0;
      for (const call of calls) {
        const expected = call.weight * (bytesPerWeight ?? 0);
        if (batch.length > 0 && (batch.length >= cap || bytes + expected > TARGET_BYTES)) {
          batches.push(batch);
          batch = [];
          bytes = 0;
        }
        batch.push(call);
        bytes += expected;
      }
      if (batch.length > 0) batches.push(batch);
      return batches;
    },
    /** How many calls of weight 1 fit into the next request. */
    size: (method: string): number => {
      const { cap, bytesPerWeight } = learned(method);
      return bytesPerWeight === null ? cap : fitCalls(bytesPerWeight, cap);
    },
    /** How many calls with answers of so many bytes share a request, once that is learned. */
    usual: (bytes: number): number => fitCalls(bytes, largest),
    /** Reports a batch that was answered completely. */
    succeeded: (method: string, batch: Batch): void => {
      const memory = learned(method);
      const each = batch.bytes / Math.max(1, batch.weight);
      // Growth counts at once, shrinking slowly: too small a batch costs little, too large a one costs memory.
      memory.bytesPerWeight =
        memory.bytesPerWeight === null || each > memory.bytesPerWeight
          ? each
          : memory.bytesPerWeight + (each - memory.bytesPerWeight) * 0.3;
      memory.bestMs = Math.min(memory.bestMs, batch.elapsedMs);
      if (options.clock.elapsed() - memory.ceilingSince > CEILING_MS) memory.ceiling = largest;
      const quick = batch.elapsedMs <= Math.max(QUICK_MS, 2 * memory.bestMs);
      if (batch.calls >= memory.cap && batch.bytes < TARGET_BYTES && quick) {
        // Half the way to a size that was too large, else twice as many.
        memory.cap =
          memory.ceiling < largest
            ? memory.cap + Math.ceil((memory.ceiling - memory.cap) / 2)
            : Math.min(largest, memory.cap * 2);
      }
    },
    /** Reports a batch that was too large: at most half as many calls from now on. */
    tooMuch: (method: string, calls: number): void => {
      const memory = learned(method);
      memory.ceiling = Math.max(1, Math.min(memory.ceiling, calls - 1));
      memory.ceilingSince = options.clock.elapsed();
      memory.cap = Math.max(1, Math.min(memory.cap, Math.floor(calls / 2)));
    },
  };
}

function fitCalls(bytes: number, most: number): number {
  return Math.max(1, Math.min(most, Math.floor(TARGET_BYTES / Math.max(1, bytes))));
}
