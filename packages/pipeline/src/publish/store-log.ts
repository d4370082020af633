import { hash } from 'node:crypto';
import { logKey } from '@packhouse/bundle';
import type { Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import { entryLine } from '@packhouse/manifest';
import type { ObjectStore } from '@packhouse/object-store';
import type { Context } from '@packhouse/runtime';
import { raiseRewound } from './publish.js';
import { putVerified } from './put-filter.js';

interface LogStoreParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
}

/** Entries of one object: about half a megabyte. */
const PART = 500;

/** Keeps the signed log beside the bundles, so that it outlives the database. */
export interface LogStore {
  /**
   * Writes the entries of a log that are not in the store yet; calls while it writes share the next round. An error is
   * logged, and a later call writes what is missing.
   */
  store(network: string, kind: Kind): Promise<void>;
}

/** Creates the writer of all logs of a packer. */
export function createLogStore(parts: LogStoreParts): LogStore {
  const { logger, signal } = parts.context;
  /** The database in which each log was last compared with the store, see `incarnation`. */
  const compared = new Map<string, number>();
  const running = new Map<string, { again: boolean; done: Promise<void> }>();
  return {
    store(network, kind) {
      const log = `${network}/${kind}`;
      const before = running.get(log);
      if (before !== undefined) {
        before.again = true;
        return before.done;
      }
      const round = { again: true, done: Promise.resolve() };
      running.set(log, round);
      const work = async (): Promise<void> => {
        try {
          while (round.again) {
            round.again = false;
            const incarnation = parts.database.incarnation();
            if (compared.get(log) !== incarnation) await raiseRewound(parts, network);
            compared.set(log, incarnation);
            await storeLog(parts, { network, kind });
          }
        } catch (error) {
          if (!signal.aborted) {
            logger.warn(
              { network, kind, err: error },
              'entries of the manifest could not be stored; they are later',
            );
          }
        } finally {
          running.delete(log);
        }
      };
      round.done = work();
      return round.done;
    },
  };
}

/** Writes the entries behind the last stored one, a part at a time. */
async function storeLog(
  parts: LogStoreParts,
  { network, kind }: { network: string; kind: Kind },
): Promise<void> {
  const { context, database, objectStore } = parts;
  const { manifest } = database.network(network);
  let stored = await manifest.storedUpTo(kind);
  for (;;) {
    const entries = await manifest.entries(kind, stored, PART);
    const [first, last] = [entries[0], entries.at(-1)];
    if (first === undefined || last === undefined) return;
    const bytes = Buffer.from(entries.map((entry) => `${entryLine(entry)}\n`).join(''));
    await putVerified(
      objectStore,
      {
        key: logKey({
          network,
          kind,
          first: first.sequence,
          last: last.sequence,
          before: first.previous,
          hash: last.hash,
        }),
        bytes,
        sha256: hash('sha256', bytes),
        contentType: 'application/x-ndjson',
        metadata: {},
      },
      context.signal,
    );
    await manifest.noteStored(kind, last.sequence);
    stored = last.sequence;
  }
}
