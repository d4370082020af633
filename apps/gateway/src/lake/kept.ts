import { getOrAdd } from '@packhouse/runtime';
import { LRUCache } from 'lru-cache';
import { addressOf, type TableRequest } from './table-request.js';

/** Bytes of manifests and lists that are kept. */
const MAX_BYTES = 33_554_432;

/** What was made of the rows of snapshots. */
export type Kept = ReturnType<typeof createKept>;

/** Keeps what is made of the rows of a snapshot, until some of them are forgotten. */
export function createKept() {
  const kept = new LRUCache<string, Buffer>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ length }) => length + 200,
  });
  /** Readers ask for the parts of a file at the same time. */
  const pending = new Map<string, Promise<Buffer>>();
  const keyOf = (request: TableRequest, name: string): string =>
    `${addressOf(request)} ${request.table.uuid} ${request.table.oldestSnapshot} ${name}`;
  const once = async (request: TableRequest, name: string, make: () => Promise<Buffer>): Promise<Buffer> => {
    const full = keyOf(request, name);
    const keep = async (): Promise<Buffer> => {
      const made = await make();
      kept.set(full, made);
      return made;
    };
    return kept.get(full) ?? getOrAdd(pending, full, () => keep().finally(() => pending.delete(full)));
  };
  return { keyOf, once };
}
