import { TABLES } from '@packhouse/chain';
import type { Database, Fence } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { ObjectStore } from '@packhouse/object-store';
import { type Context, getOrAdd } from '@packhouse/runtime';
import type { SignerSource } from '../publish/sign.js';
import { GRID, type Grid } from './layout.js';
import { deleteExpired, deleteLakeOrphans, KEEP_MS } from './sweep.js';
import { needsOf } from './table-rows.js';
import { createTableUpdate } from './update-table.js';

interface LakeParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  /** Of the log that names every file; without it audits report the files. */
  signers?: SignerSource | undefined;
  /** Those in force now. */
  networks(): readonly Network[];
  grid?: Grid;
}

/** How long a table is written before the next one has its turn, in milliseconds. A file is finished. */
const TURN_MS = 20_000;
const SWEEP_EVERY_MS = 86_400_000;
const ALARM = 'LAKE_INCOMPLETE';

/** Writes the tables of the lake; to be run while the lock is held. */
export function createLakeWriter(parts: LakeParts) {
  const { context, database, grid = GRID } = parts;
  const updates = new Map<string, ReturnType<typeof createTableUpdate>>();
  const sweptAt = new Map<string, number>();

  const sweep = async (network: string, signal: AbortSignal): Promise<void> => {
    const now = context.clock.elapsed();
    if (now - (sweptAt.get(network) ?? Number.NEGATIVE_INFINITY) < SWEEP_EVERY_MS) return;
    await deleteExpired(parts, network, { keepMs: KEEP_MS, signal });
    const orphans = await deleteLakeOrphans(parts, network, signal);
    if (orphans.length > 0)
      context.logger.info({ network, objects: orphans.length }, 'deleted orphans of the lake');
    sweptAt.set(network, now);
  };

  const report = async (network: string, faults: readonly string[]): Promise<void> => {
    const { alarms } = database.network(network);
    if (faults.length === 0) {
      await alarms.clear(ALARM, 'itself');
      return;
    }
    await alarms.raise({
      name: ALARM,
      message: `${faults.length} files of the lake of ${network} were not written; their tables lack the blocks. ${faults[0]}`,
      data: { faults: faults.slice(0, 10) },
    });
  };

  return {
    /** Updates each table for a turn. Returns whether there is more to do now. */
    async run(signal: AbortSignal, fence?: Fence): Promise<boolean> {
      let hasMore = false;
      for (const { id: network, chainId, bundles } of parts.networks()) {
        if (!bundles.enabled) continue;
        const faults: string[] = [];
        let isBehind = false;
        for (const table of TABLES) {
          const needs = needsOf(table, bundles.kinds);
          if (needs.length === 0) continue;
          const update = getOrAdd(updates, `${network} ${table} ${needs}`, () =>
            createTableUpdate({ ...parts, grid }, { network, chainId, kind: table, needs }),
          );
          const { more } = await update.run({ signal, fence, turnMs: TURN_MS });
          isBehind ||= more;
          faults.push(...update.faults());
        }
        await report(network, faults);
        if (!isBehind) await sweep(network, signal);
        hasMore ||= isBehind;
      }
      return hasMore;
    },
  };
}
