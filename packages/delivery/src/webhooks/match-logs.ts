import { compileItems, filterBytes, filterKey, readFilter, readRecord } from '@packhouse/bundle';
import type { NetworkDatabase } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { isPackhouseError } from '@packhouse/runtime';

/** What of a log a hook chooses by. */
interface LogName {
  address: string;
  topic: string | undefined;
}

/** Which logs a hook is about; empty: all. */
interface LogMatch {
  /** `0x` hex in lower case. */
  addresses: readonly string[];
  /** Of the first topic. */
  topics: readonly string[];
}

/**
 * Whether there may be a matching log in a staged block, or in the published bundle that holds a block. False is
 * certain; what cannot be read counts as a match, so that a hook is never kept from a block.
 */
export interface LogMatcher {
  block(block: { block: number; hash: string }, match: LogMatch): Promise<boolean>;
  bundle(firstBlock: number, match: LogMatch): Promise<boolean>;
}

type Parts = ReturnType<typeof readFilter>['parts'];

/** Blocks, and filters, of which the content is remembered: the hooks of a network are at the same ones. */
const REMEMBERED = 8;

/** Creates it for one network. Throws errors of the database and the object store that time heals. */
export function createLogMatcher(
  database: Pick<NetworkDatabase, 'locate' | 'staging' | 'bundleFilters'>,
  objectStore: Pick<ObjectStore, 'read'>,
): LogMatcher {
  const blocks = createMemory<LogName[] | null>();
  const filters = createMemory<Parts | null>();

  /** Null: the block is published, or another one, or none, has its number by now. */
  const readLogs = async (block: number, hash: string): Promise<LogName[] | null> => {
    const found = await database.locate('logs', block);
    if (found.state !== 'staged' || found.hash !== hash) return null;
    const { fragment } = found;
    try {
      const [body] = await database.staging.bodies('logs', [fragment.firstBlock], [fragment.crc32]);
      if (body === undefined) return null;
      const record = JSON.parse((await readRecord({ fragment, body, block })).toString()) as {
        address: string;
        topics: string[];
      }[];
      return record.map(({ address, topics }) => ({ address, topic: topics[0] }));
    } catch (error) {
      // Published or abandoned meanwhile.
      if (isPackhouseError(error, 'STAGE_CONFLICT')) return null;
      throw error;
    }
  };
  const readParts = async (objectKey: string, firstBlock: number): Promise<Parts | null> => {
    try {
      const bytes = await objectStore.read(filterKey(objectKey));
      return readFilter(bytes.subarray(0, filterBytes(bytes)), firstBlock).parts;
    } catch (error) {
      if (isPackhouseError(error, 'OBJECT_MISSING') || isPackhouseError(error, 'BUNDLE_INVALID')) return null;
      throw error;
    }
  };

  return {
    async block({ block, hash }, { addresses, topics }) {
      const logs = await blocks(`${block} ${hash}`, () => readLogs(block, hash));
      if (logs === null) return true;
      const isIn = (list: readonly string[], value: string | undefined): boolean =>
        list.length === 0 || (value !== undefined && list.includes(value));
      return logs.some(({ address, topic }) => isIn(addresses, address) && isIn(topics, topic));
    },
    async bundle(block, { addresses, topics }) {
      const range = { firstBlock: block, lastBlock: block };
      const [file] = await database.bundleFilters.of('logs', range, 1);
      if (file === undefined || file.filter === null) return true;
      const { objectKey, firstBlock, sha256 } = file;
      const parts = await filters(`${sha256} ${file.filter.sha256}`, () => readParts(objectKey, firstBlock));
      if (parts === null) return true;
      const mayMatch = compileItems({
        addresses: addresses.length === 0 ? undefined : addresses,
        topics: topics.length === 0 ? undefined : [topics],
      });
      return parts.some(({ items }) => mayMatch(items));
    },
  };
}

/** Remembers the newest answers; a failure is forgotten. */
function createMemory<T>(): (key: string, read: () => Promise<T>) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (key, read) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const reading = read();
    known.set(key, reading);
    reading.catch(() => known.delete(key));
    const [oldest] = known.keys();
    if (known.size > REMEMBERED && oldest !== undefined) known.delete(oldest);
    return reading;
  };
}
