import { KINDS } from '@packhouse/chain';
import type { Database, Fence, LakeTable } from '@packhouse/database';
import { assignFields, type Field } from '@packhouse/lake';
import type { ObjectStore } from '@packhouse/object-store';
import { type Context, type ErrorCode, isPackhouseError } from '@packhouse/runtime';
import type { SignerSource } from '../publish/sign.js';
import { createChangedCells } from './changed-cells.js';
import { cellOf, type Grid } from './layout.js';
import type { LakeSource } from './plan-files.js';
import { tableSchema } from './table-rows.js';
import { updateCell } from './update-cell.js';

/** A file that could not be written is tried again after this time, in milliseconds. */
const RETRY_MS = 300_000;
/** In the place of a cell: a fault of the whole table. */
const OF_TABLE = -1;
/** Faults of a bundle: others of the table can be written. */
const FAULTS: readonly ErrorCode[] = [
  'OBJECT_MISSING',
  'OBJECT_MISMATCH',
  'BUNDLE_INVALID',
  'RECORD_INVALID',
];

/** How a table is updated. */
export interface UpdateHow {
  signal: AbortSignal;
  fence: Fence | undefined;
  /** A cell that was begun is finished. */
  turnMs: number;
  /** Only the cell with the newest blocks that are not in the table. */
  newestOnly?: boolean;
  /** Called, and awaited, after a file that took so long, in milliseconds. */
  rest?: (workedMs: number) => Promise<void>;
}

/** Keeps one table equal to what is published. */
export type TableUpdate = ReturnType<typeof createTableUpdate>;

interface TableParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  signers?: SignerSource | undefined;
  grid: Grid;
}

/**
 * Keeps a table equal to what is published.
 *
 * ```
 * entries of the manifest since the head ─▶ cells that changed
 * a cell: bundles ─▶ files that are to be there ─▶ write those that are not ─▶ one commit ─▶ next cell
 * all cells done ─▶ the head moves
 * ```
 * Which files are to be there depends on the index alone, so a run that ends anywhere is repeated without a trace but an
 * object that the next one writes again.
 */
export function createTableUpdate(parts: TableParts, source: LakeSource) {
  const { context, database, grid } = parts;
  const { network, kind, needs } = source;
  const data = database.network(network);
  const changed = createChangedCells(data, needs, grid);
  const failed = new Map<number, { message: string; at: number }>();
  /** null, and a fault: the table was written by a version with other columns. */
  const fieldsOf = (before: LakeTable | undefined): Field[] | null => {
    failed.delete(OF_TABLE);
    try {
      return assignFields(tableSchema(kind).columns, (before?.fields ?? []) as Field[]);
    } catch (error) {
      if (!isPackhouseError(error, 'LAKE_SCHEMA_CHANGED')) throw error;
      failed.set(OF_TABLE, { message: `${network} ${kind}: ${error.message}`, at: context.clock.elapsed() });
      return null;
    }
  };
  return {
    /** Messages of the files that could not be written when last tried. */
    faults: (): string[] => [...failed.values()].map(({ message }) => message),
    /**
     * Updates the table, cell by cell, for `turnMs` at most. Returns whether there is more to do now. Throws LEASE_LOST,
     * errors of store and database.
     */
    async run(how: UpdateHow): Promise<{ more: boolean }> {
      const { clock } = context;
      const before = (await data.lake.tables()).find((each) => each.kind === kind);
      const fields = fieldsOf(before);
      if (fields === null) return { more: false };
      const heads = before?.heads ?? {};
      const ends = await changed.look(heads);
      for (const { firstBlock } of await data.lake.toRebuild(kind)) {
        changed.cells.add(cellOf(firstBlock, grid).firstBlock);
      }
      const until = clock.elapsed() + how.turnMs;
      const cells = [...changed.cells].sort((a, b) => a - b);
      for (const firstBlock of how.newestOnly ? cells.slice(-1) : cells) {
        if (clock.elapsed() >= until) return { more: true };
        // Done with an earlier one.
        if (!changed.cells.has(firstBlock)) continue;
        if ((await data.lake.control()).paused) return { more: false };
        const fault = failed.get(firstBlock);
        if (fault !== undefined && clock.elapsed() < fault.at + RETRY_MS) continue;
        try {
          const table = { ...source, fields, heads };
          const done = await updateCell(parts, table, cellOf(firstBlock, grid), how);
          for (const each of changed.cells) {
            if (each < done.firstBlock || each > done.lastBlock) continue;
            changed.cells.delete(each);
            failed.delete(each);
          }
        } catch (error) {
          if (!FAULTS.some((code) => isPackhouseError(error, code))) throw error;
          context.metrics.count(
            'packhouse_lake_failures_total',
            'Tries to write data files of the lake that a damaged bundle ended',
            { network, table: kind },
          );
          failed.set(firstBlock, { message: (error as Error).message, at: clock.elapsed() });
        }
      }
      const isMoved = KINDS.some((each) => ends[each]?.hash !== heads[each]?.hash);
      // Not with the last files: between two commits a process may be killed, and what is behind the head is not looked at.
      if (changed.cells.size === 0 && isMoved) {
        await data.lake.commit(kind, { fields, heads: ends, remove: [], add: [] }, how.fence);
      }
      return { more: false };
    },
  };
}
