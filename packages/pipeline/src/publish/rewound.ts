import { logKeyBefore, logPrefix, parseLogKey } from '@packhouse/bundle';
import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import type { Database, NetworkDatabase } from '@packhouse/database';
import type { SealedEntry } from '@packhouse/manifest';
import type { ObjectStore } from '@packhouse/object-store';
import { type Context, isPackhouseError } from '@packhouse/runtime';
import type { AlarmName } from '../alarm-names.js';

interface RewoundParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
}

/** The alarm of a network whose database lacks entries that the store has. */
export const MANIFEST_REWOUND = 'MANIFEST_REWOUND' satisfies AlarmName;

/** Raises the alarm of each network, or of one, whose log in the store goes beyond the database's; one listing for each log. */
export async function raiseRewound(parts: RewoundParts, only?: string): Promise<void> {
  const { database } = parts;
  for (const { id: network } of await database.networks.list()) {
    if (network !== (only ?? network)) continue;
    const logs: string[] = [];
    for (const kind of KINDS) {
      const lost = await findLostEntries(parts, { network, kind });
      if (lost !== null) logs.push(`${kind} (entry ${lost.sequence})`);
    }
    if (logs.length === 0) continue;
    await database.network(network).alarms.raise({
      name: MANIFEST_REWOUND,
      message: `The database lacks signed entries of ${network} that the object store has: ${logs.join(', ')}. It was set back. Run \`packhouse adopt --network ${network}\`.`,
      data: { network },
    });
  }
}

/**
 * For the error of a put: OBJECT_EXISTS raises the alarm too, because packed again after a database was set back, blocks
 * may give other bytes than the published ones. Throws the error.
 */
export async function raiseExisting(
  alarms: NetworkDatabase['alarms'],
  { network, kind, firstBlock, lastBlock }: BlockRange & { network: string; kind: Kind },
  error: unknown,
): Promise<never> {
  if (isPackhouseError(error, 'OBJECT_EXISTS')) {
    await alarms.raise({
      name: MANIFEST_REWOUND,
      message: `Blocks ${firstBlock}-${lastBlock} (${kind} of ${network}) are not published: ${error.message} If the database was set back, run \`packhouse adopt --network ${network}\`. If this alarm comes again, no signed entry names the object: move it away.`,
      data: { network, kind, ...error.data },
    });
  }
  throw error;
}

/**
 * The first entry in the store that the database's log lacks, in a part that begins behind what the database says is
 * stored; null: none. After a database was set back there are such parts.
 */
async function findLostEntries(
  { context, database, objectStore }: RewoundParts,
  { network, kind }: { network: string; kind: Kind },
): Promise<Pick<SealedEntry, 'sequence' | 'hash'> | null> {
  const { manifest } = database.network(network);
  const after = logKeyBefore(network, kind, (await manifest.storedUpTo(kind)) + 1);
  for await (const { key } of objectStore.list(logPrefix(network, kind), { after, signal: context.signal })) {
    const part = parseLogKey(key);
    if (part === null) continue;
    // What was written and not noted is no loss.
    const [entry] = await manifest.entriesAt(kind, [part.last]);
    if (entry?.hash.startsWith(part.hash) !== true) return { sequence: part.last, hash: part.hash };
  }
  return null;
}
