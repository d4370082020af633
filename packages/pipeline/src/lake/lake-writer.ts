import { TABLES } from '@packhouse/chain';
import type { Database, Fence } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { ObjectStore } from '@packhouse/object-store';
import { type Context, getOrAdd } from '@packhouse/runtime';
import type { AlarmName } from '../alarm-names.js';
import type { SignerSource } from '../publish/sign.js';
import { createOpeningHours } from '../schedule/time-window.js';
import { GRID, type Grid } from './layout.js';
import type { LakeSource } from './plan-files.js';
import { deleteExpired, deleteLakeOrphans, KEEP_MS } from './sweep.js';
import { needsOf } from './table-rows.js';
import { createTableUpdate, type TableUpdate, type UpdateHow } from './update-table.js';

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
/** While history is written, the ends of tables wait for a turn of one table, or this long, in milliseconds. */
const ENDS_EVERY_MS = 15_000;
const SWEEP_EVERY_MS = 86_400_000;
const ALARM: AlarmName = 'LAKE_INCOMPLETE';

/** Writes the tables of the lake; to be run while the lock is held. */
export function createLakeWriter(parts: LakeParts) {
  const { context, database, grid = GRID } = parts;
  const updates = new Map<string, TableUpdate>();
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

  const listSources = (): LakeSource[] =>
    parts
      .networks()
      .filter(({ bundles }) => bundles.enabled)
      .flatMap(({ id: network, chainId, bundles }) =>
        TABLES.map((kind) => ({ network, chainId, kind, needs: needsOf(kind, bundles.kinds) })),
      )
      .filter(({ needs }) => needs.length > 0);
  const getUpdate = (source: LakeSource): TableUpdate =>
    getOrAdd(updates, `${source.network} ${source.kind} ${source.needs}`, () =>
      createTableUpdate({ ...parts, grid }, source),
    );

  /** Writes what was published last, of all tables: it waits for no history. */
  const writeEnds = async (sources: readonly LakeSource[], how: UpdateHow): Promise<void> => {
    for (const source of sources) {
      const { paused } = await database.network(source.network).lake.control();
      if (!paused) await getUpdate(source).run({ ...how, newestOnly: true });
    }
    endsAt = context.clock.elapsed();
  };

  /** Writes history of a table for a turn. Returns whether there is more to do now. */
  const writeHistory = async (source: LakeSource, how: UpdateHow): Promise<boolean> => {
    const { paused, windows, share } = await database.network(source.network).lake.control();
    if (paused || !hours.at(windows, context.clock.now()).open) return false;
    const rest = (workedMs: number): Promise<void> =>
      share === 1 ? Promise.resolve() : context.clock.sleep((workedMs * (1 - share)) / share, how.signal);
    return (await getUpdate(source).run({ ...how, rest })).more;
  };

  return {
    /**
     * Updates the ends of all tables, and gives each a turn to write history: in the windows of its network, and for its
     * share of the time. Between turns the ends are updated again. Returns whether there is more to do now.
     */
    async run(signal: AbortSignal, fence?: Fence): Promise<boolean> {
      const how = { signal, fence, turnMs: TURN_MS };
      const sources = listSources();
      await writeEnds(sources, how);
      const behind = new Set<string>();
      for (const source of sources) {
        if (context.clock.elapsed() - endsAt > ENDS_EVERY_MS) await writeEnds(sources, how);
        if (await writeHistory(source, how)) behind.add(source.network);
      }
      for (const network of new Set(sources.map((source) => source.network))) {
        const faults = sources
          .filter((source) => source.network === network)
          .flatMap((source) => getUpdate(source).faults());
        await report(network, faults);
        await sweep(network, signal);
      }
      return behind.size > 0;
    },
  };
}
