import { TABLES } from '@packhouse/chain';
import type { Database, Fence } from '@packhouse/database';
import { withLock } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { ObjectStore } from '@packhouse/object-store';
import type { AlarmName, SignerSource } from '@packhouse/pipeline';
import { createOpeningHours } from '@packhouse/pipeline';
import { type Context, getOrAdd, repeat } from '@packhouse/runtime';
import { GRID, type Grid } from './layout.js';
import type { LakeSource } from './ready-blocks.js';
import { deleteExpired, deleteLakeOrphans, KEEP_MS } from './sweep.js';
import { needsOf } from './table-rows.js';
import { createNetworkUpdate, type NetworkUpdate, type UpdateHow } from './update-network.js';

/** The pause between two looks at what was published, in milliseconds. */
const LOOK_EVERY_MS = 5_000;

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

/** How long a network is written before the next one has its turn, in milliseconds. A cell is finished. */
const TURN_MS = 20_000;
/** While history is written, the ends of tables wait this long, and for one bundle or file, in milliseconds. */
const ENDS_EVERY_MS = 15_000;
const SWEEP_EVERY_MS = 86_400_000;
const ALARM: AlarmName = 'LAKE_INCOMPLETE';

/** Writes the tables of the lake; to be run while the lock is held. */
export function createLakeWriter(parts: LakeParts) {
  const { context, database, grid = GRID } = parts;
  const updates = new Map<string, NetworkUpdate>();
  const hours = createOpeningHours();
  let endsAt = 0;
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

  /** Networks with the tables that they have. */
  const listNetworks = (): { network: string; sources: LakeSource[] }[] =>
    parts
      .networks()
      .filter(({ bundles }) => bundles.enabled)
      .map(({ id: network, chainId, bundles }) => {
        const sources = TABLES.map((kind) => ({
          network,
          chainId,
          kind,
          needs: needsOf(kind, bundles.kinds),
        }));
        return { network, sources: sources.filter(({ needs }) => needs.length > 0) };
      })
      .filter(({ sources }) => sources.length > 0);
  type LakeNetwork = ReturnType<typeof listNetworks>[number];
  const getUpdate = ({ network, sources }: LakeNetwork): NetworkUpdate =>
    getOrAdd(updates, `${network} ${sources.map(({ needs }) => needs)}`, () =>
      createNetworkUpdate({ ...parts, grid }, sources),
    );

  /** Writes what was published last, of all tables: it waits for no history. */
  const writeEnds = async (networks: readonly LakeNetwork[], how: UpdateHow): Promise<void> => {
    for (const each of networks) {
      const { paused } = await database.network(each.network).lake.control();
      if (!paused) await getUpdate(each).run({ ...how, newestOnly: true });
    }
    endsAt = context.clock.elapsed();
  };

  /** Writes history of a network for a turn. Returns whether there is more to do now. */
  const writeHistory = async (of: LakeNetwork, how: UpdateHow): Promise<boolean> => {
    const { paused, windows, share } = await database.network(of.network).lake.control();
    if (paused || !hours.at(windows, context.clock.now()).open) return false;
    const rest = (workedMs: number): Promise<void> =>
      share === 1 ? Promise.resolve() : context.clock.sleep((workedMs * (1 - share)) / share, how.signal);
    return (await getUpdate(of).run({ ...how, rest })).more;
  };

  return {
    /**
     * Updates the ends of all tables, and gives each network a turn to write history: in its windows, and for its share of
     * the time. Meanwhile the ends are updated again and again. Returns whether there is more to do now.
     */
    async run(signal: AbortSignal, fence?: Fence): Promise<boolean> {
      const how = { signal, fence, turnMs: TURN_MS };
      const networks = listNetworks();
      await writeEnds(networks, how);
      const afterBundle = async (): Promise<void> => {
        if (context.clock.elapsed() - endsAt > ENDS_EVERY_MS) await writeEnds(networks, how);
      };
      let isBehind = false;
      for (const each of networks) {
        await afterBundle();
        if (await writeHistory(each, { ...how, afterBundle })) isBehind = true;
      }
      for (const each of networks) {
        await report(each.network, getUpdate(each).faults());
        await sweep(each.network, signal);
      }
      return isBehind;
    },
  };
}

/**
 * Keeps the tables of the lake equal to what is published, until the context is aborted. One process at a time does, and
 * one file at a time is written.
 */
export function lakeLoop(parts: Parameters<typeof createLakeWriter>[0]): Promise<void> {
  const { context, database } = parts;
  const writer = createLakeWriter(parts);
  return repeat(context, { everyMs: LOOK_EVERY_MS, failed: 'the lake was not updated' }, () =>
    withLock(database, 'lake', context.signal, async (signal, fence) => {
      while (await writer.run(signal, fence)) signal.throwIfAborted();
    }),
  );
}
