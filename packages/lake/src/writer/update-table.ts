import { KINDS } from '@packhouse/chain';
import type { Database, Fence, LakeHeads, LakeTable } from '@packhouse/database';
import { type Context, isPackhouseError } from '@packhouse/runtime';
import { assignFields, type Field } from '../iceberg/fields.js';
import { createChangedCells } from './changed-cells.js';
import { cellOf, type Grid } from './layout.js';
import type { LakeSource } from './ready-blocks.js';
import { tableSchema } from './table-rows.js';
import type { CellOutcome, TableState } from './update-cell.js';

/** A file that could not be written is tried again after this time, in milliseconds. */
const RETRY_MS = 300_000;
/** In the place of a cell: a fault of the whole table. */
const OF_TABLE = -1;

/** What one table lacks of what is published. */
export type TableUpdate = ReturnType<typeof createTableUpdate>;

/**
 * Knows what a table lacks of what is published.
 *
 * ```
 * entries of the manifest since the head ─▶ cells that changed
 * a cell: bundles ─▶ files that are to be there ─▶ write those that are not ─▶ commits ─▶ next cell
 * all cells done ─▶ the head moves
 * ```
 * Which files are to be there depends on the index alone, so a run that ends anywhere is repeated without a trace but an
 * object that the next one writes again.
 */
export function createTableUpdate(
  { context, database, grid }: { context: Context; database: Database; grid: Grid },
  source: LakeSource,
) {
  const { network, kind } = source;
  const { clock } = context;
  const data = database.network(network);
  const changed = createChangedCells(data, source, { grid, clock });
  const failed = new Map<number, { message: string; at: number }>();
  let state: TableState | null = null;
  /** The ends of the logs whose entries are in `changed`. */
  let ends: LakeHeads = {};
  /** null, and a fault: the table was written by a version with other columns. */
  const fieldsOf = (before: LakeTable | undefined): Field[] | null => {
    failed.delete(OF_TABLE);
    try {
      return assignFields(tableSchema(kind).columns, (before?.fields ?? []) as Field[]);
    } catch (error) {
      if (!isPackhouseError(error, 'LAKE_SCHEMA_CHANGED')) throw error;
      failed.set(OF_TABLE, { message: `${network} ${kind}: ${error.message}`, at: clock.elapsed() });
      return null;
    }
  };
  return {
    /** Messages of the files that could not be written when last tried. */
    faults: (): string[] => [...failed.values()].map(({ message }) => message),
    /** Looks at what was published. Returns whether the table can be written. */
    async look(): Promise<boolean> {
      const before = (await data.lake.tables()).find((each) => each.kind === kind);
      const fields = fieldsOf(before);
      if (fields === null) return false;
      const heads = before?.heads ?? {};
      ends = await changed.look({ heads, snapshot: before?.snapshot ?? 0 });
      for (const { firstBlock } of await data.lake.toRebuild(kind)) {
        changed.cells.add(cellOf(firstBlock, grid).firstBlock);
      }
      state = { ...source, fields, heads };
      return true;
    },
    /** The table as it is now, after a look. */
    state(): TableState {
      if (state === null) throw new RangeError('the table was not looked at');
      return state;
    },
    /** First blocks of the cells that are to be written, ascending. */
    cells: (): number[] => [...changed.cells].sort((a, b) => a - b),
    /** Whether a cell can be tried: it did not fail a short time ago. */
    isDue(cell: number): boolean {
      const fault = failed.get(cell);
      return fault === undefined || clock.elapsed() >= fault.at + RETRY_MS;
    },
    /** Notes what became of a cell. */
    note(cell: number, { region, fault }: CellOutcome): void {
      if (fault !== null) {
        countFault(context, { network, table: kind });
        failed.set(cell, { message: fault.message, at: clock.elapsed() });
        return;
      }
      for (const each of changed.cells) {
        if (each < region.firstBlock || each > region.lastBlock) continue;
        changed.cells.delete(each);
        failed.delete(each);
      }
    },
    /** Moves the head to what was looked at last, if every cell is done. Throws LEASE_LOST. */
    async moveHead(fence: Fence | undefined): Promise<void> {
      if (state === null) return;
      const { fields, heads } = state;
      const isMoved = KINDS.some((each) => ends[each]?.hash !== heads[each]?.hash);
      // Not with the last files: between two commits a process may be killed, and what is behind the head is not looked at.
      if (changed.cells.size === 0 && isMoved) {
        await data.lake.commit(kind, { fields, heads: ends, remove: [], add: [] }, fence);
        state = { ...state, heads: ends };
      }
    },
  };
}

function countFault({ metrics }: Context, { network, table }: { network: string; table: string }): void {
  metrics.count(
    'packhouse_lake_failures_total',
    'Tries to write data files of the lake that a damaged bundle ended',
    { network, table },
  );
}
