import type { BlockRange } from '@packhouse/chain';
import type { Database, Fence } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import type { SignerSource } from '@packhouse/pipeline';
import type { Context } from '@packhouse/runtime';
import { cellOf, type Grid } from './layout.js';
import type { LakeSource } from './ready-blocks.js';
import { updateCell } from './update-cell.js';
import { createTableUpdate, type TableUpdate } from './update-table.js';

/** How the tables of a network are updated. */
export interface UpdateHow {
  signal: AbortSignal;
  fence: Fence | undefined;
  /** A cell that was begun is finished. */
  turnMs: number;
  /** Only the cell of each table with the newest blocks that are not in it. */
  newestOnly?: boolean;
  /** Called, and awaited, after a file that took so long, in milliseconds. */
  rest?: (workedMs: number) => Promise<void>;
  /** Called, and awaited, after each bundle: the newest blocks wait for no history. */
  afterBundle?: () => Promise<void>;
}

/** Keeps the tables of one network equal to what is published. */
export type NetworkUpdate = ReturnType<typeof createNetworkUpdate>;

interface NetworkParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  signers?: SignerSource | undefined;
  grid: Grid;
}

/**
 * Keeps the tables of a network equal to what is published, cell by cell. Tables that lack the same cell are written
 * together; one that was added later, or is written again, has cells of its own until it has caught up.
 */
export function createNetworkUpdate(parts: NetworkParts, sources: readonly LakeSource[]) {
  const { context, database, grid } = parts;
  const { clock } = context;
  const updates = sources.map((source) => createTableUpdate(parts, source));
  const lake = sources[0] && database.network(sources[0].network).lake;
  /** Blocks whose files are being written, while the newest ones are written in between. */
  let busy: BlockRange | null = null;
  const isBusy = (cell: number): boolean => {
    const { firstBlock, lastBlock } = cellOf(cell, grid);
    return busy !== null && firstBlock <= busy.lastBlock && lastBlock >= busy.firstBlock;
  };

  const write = async (tables: readonly TableUpdate[], cell: number, how: UpdateHow): Promise<void> => {
    const states = tables.map((update) => update.state());
    const outer = busy;
    const onRegion = (region: BlockRange): void => {
      if (outer === null) busy = region;
    };
    try {
      const outcomes = await updateCell(parts, states, cellOf(cell, grid), { ...how, onRegion });
      for (const update of tables) {
        const outcome = outcomes.get(update.state().kind);
        if (outcome !== undefined) update.note(cell, outcome);
      }
    } finally {
      busy = outer;
    }
  };
  /** The cell to write next of each table that has one. */
  const nextCells = (tables: readonly TableUpdate[], newest: boolean): Map<TableUpdate, number> => {
    const cells = new Map<TableUpdate, number>();
    for (const each of tables) {
      const all = each.cells();
      const found = newest ? all.slice(-1) : all.filter((cell) => each.isDue(cell)).slice(0, 1);
      for (const cell of found) if (each.isDue(cell) && !isBusy(cell)) cells.set(each, cell);
    }
    return cells;
  };

  return {
    /** Messages of the files that could not be written when last tried. */
    faults: (): string[] => updates.flatMap((update) => update.faults()),
    /**
     * Updates the tables for `turnMs` at most. Returns whether there is more to do now. Throws LEASE_LOST, errors of store
     * and database.
     */
    async run(how: UpdateHow): Promise<{ more: boolean }> {
      const looked: TableUpdate[] = [];
      for (const update of updates) if (await update.look()) looked.push(update);
      const until = clock.elapsed() + how.turnMs;
      const done = new Set<TableUpdate>();
      for (;;) {
        const cells = nextCells(
          looked.filter((each) => !done.has(each)),
          how.newestOnly === true,
        );
        if (cells.size === 0) break;
        if (clock.elapsed() >= until) return { more: true };
        if ((await lake?.control())?.paused) return { more: false };
        const cell = how.newestOnly ? Math.max(...cells.values()) : Math.min(...cells.values());
        const tables = [...cells].filter(([, of]) => of === cell).map(([table]) => table);
        await write(tables, cell, how);
        if (how.newestOnly) for (const table of tables) done.add(table);
      }
      for (const update of looked) await update.moveHead(how.fence);
      return { more: false };
    },
  };
}
