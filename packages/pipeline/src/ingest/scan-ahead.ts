import type { FailedBlock, FetchedBlock } from '@packhouse/node-rpc';
import { type BegunScan, dropTraces, type ProveDeps, scanRecord } from './prove-record.js';

/** A block as it came, and what its scan finds, which began when it came. */
interface Begun {
  fetched: FetchedBlock | FailedBlock;
  scan?: BegunScan;
}

/**
 * Begins to prove the block after each one, so that its senders are recovered in other threads while the one before is
 * deflated and handed over here.
 */
export async function* scanAhead(
  parts: ProveDeps,
  blocks: AsyncIterable<FetchedBlock | FailedBlock>,
  suspected: boolean,
): AsyncGenerator<Begun> {
  const source = blocks[Symbol.asyncIterator]();
  const pull = async (): Promise<Begun | null> => {
    const { done, value } = await source.next();
    if (done === true) return null;
    if ('error' in value) return { fetched: value };
    const wary = suspected || parts.contradicted?.has(value.upstream) === true;
    const record = scanRecord(parts, value, wary);
    // Awaited when it is this block's turn, if it ever is.
    record.catch(() => undefined);
    return { fetched: value, scan: { record, suspected: wary } };
  };
  let next = pull();
  try {
    for (let begun = await next; begun !== null; begun = await next) {
      next = pull();
      // An error ends the loop when it is its turn.
      next.catch(() => undefined);
      yield begun;
    }
  } finally {
    // Not waited for: a block may still be on its way.
    void next
      .then((begun) => begun && 'stream' in begun.fetched && dropTraces(begun.fetched))
      .catch(() => undefined);
    void Promise.resolve(source.return?.()).catch(() => undefined);
  }
}
