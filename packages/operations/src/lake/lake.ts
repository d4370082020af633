import { TABLES } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import { createOpeningHours, parseTimeWindow } from '@packhouse/pipeline';
import { type LakeReport, lakeReport } from '@packhouse/report';
import { z } from 'zod';
import { fail } from '../operation/fail.js';
import { blockField, checkRange, networkField, toPublic } from '../operation/fields.js';
import { findNetwork } from '../operation/find-network.js';
import { noteChange } from '../operation/note-change.js';
import { change, type OperationParts, read } from '../operation/operation.js';

/** Ranges of complete blocks that an answer has at most; the first ones. */
const MAX_RANGES = 100;
const MAX_WINDOWS = 20;

const given = { network: networkField.optional().describe('default: all networks') };

export const listLakeTables = read({
  name: 'lake',
  role: 'viewer',
  sharedForMs: 5_000,
  summary:
    'The tables of the lake, by network and kind: files, rows, complete blocks, and how far behind they are.',
  input: z.object({ network: networkField.optional() }),
  run: async ({ context, database }, { network }) => {
    const tables = [];
    const now = context.clock.now();
    for (const id of await toNetworks(database, network)) {
      const reports = await lakeReport(database.network(id));
      for (const report of reports) tables.push(await describeTable(database, id, report, now));
    }
    return tables;
  },
});

export const setLakeState = change({
  name: 'lake/state',
  role: 'operator',
  summary: 'Pauses or resumes the writing of tables; readers are not affected, a file under way is finished.',
  input: z.object({ ...given, state: z.enum(['active', 'paused']) }),
  run: (parts, { network, state }) =>
    changeControl(parts, network, state === 'paused' ? 'pause' : 'resume', { paused: state === 'paused' }),
});

export const setLake = change({
  name: 'lake/set',
  role: 'operator',
  summary: 'Sets when history is written to tables, and for which share of the time.',
  input: z.object({
    ...given,
    windows: z.array(z.string().min(1).max(200)).max(MAX_WINDOWS).optional().describe('empty: at any time'),
    share: z.coerce.number('takes a share above 0 and up to 1').gt(0).lte(1).optional(),
  }),
  run: (parts, { network, windows, share }) => {
    for (const window of windows ?? []) parseTimeWindow(window);
    return changeControl(parts, network, 'set', { windows, share });
  },
});

export const rebuildLake = change({
  name: 'lake/rebuild',
  role: 'operator',
  summary: 'Has files of a table written again from the bundles; each replaces the old one in a snapshot.',
  input: z.object({
    network: networkField,
    table: z.enum(TABLES).describe('a table'),
    from: blockField.default(0),
    to: blockField.default(Number.MAX_SAFE_INTEGER),
  }),
  run: async (parts, { network: named, table, from, to }) => {
    const { database } = parts;
    const network = await findNetwork(database, named);
    checkRange(from, to);
    const { lake } = database.network(network);
    if (!(await lake.tables()).some(({ kind }) => kind === table)) {
      fail('TABLE_UNKNOWN', `${network} has no table ${table} yet.`, 'See `packhouse lake status`.');
    }
    const files = await lake.rebuild(table, { firstBlock: from, lastBlock: to });
    const range = to === Number.MAX_SAFE_INTEGER ? { from } : { from, to };
    await noteChange(parts, `lake ${network} ${table}`, 'rebuild', null, { ...range, files });
    return { network, table, from, to, files };
  },
});

async function toNetworks(database: Database, named: string | undefined): Promise<string[]> {
  if (named !== undefined) return [await findNetwork(database, named)];
  return (await database.networks.list()).map(({ id }) => id);
}

/** Returns what is in force now, by network. */
async function changeControl(
  parts: OperationParts,
  named: string | undefined,
  action: string,
  change: { paused?: boolean; windows?: string[] | undefined; share?: number | undefined },
) {
  const { database } = parts;
  const changed = [];
  for (const network of await toNetworks(database, named)) {
    const { lake } = database.network(network);
    const before = await lake.control();
    await lake.setControl(change);
    const after = await lake.control();
    await noteChange(parts, `lake ${network}`, action, before, after);
    changed.push({ network, ...after });
  }
  return changed;
}

async function describeTable(database: Database, network: string, report: LakeReport, now: number) {
  const { lake, head } = database.network(network);
  const { table, lastBlock, bundlesBehind, rebuilding } = report;
  const { kind, snapshot, madeAt } = table;
  const view = { kind, snapshot, maxBlock: Number.MAX_SAFE_INTEGER };
  // One chunk: the sum of all.
  const [totals] = await lake.chunks({ ...view, chunkBlocks: Number.MAX_SAFE_INTEGER });
  const ranges = await lake.ranges(view, MAX_RANGES);
  const { paused, windows, share } = await lake.control();
  const final = (await head.get())?.finalized ?? -1;
  return {
    network,
    kind,
    snapshot,
    madeAt,
    files: totals?.files ?? 0,
    rows: totals?.rows ?? 0,
    bytes: totals?.bytes ?? 0,
    complete: ranges.map((range) => toPublic(range)),
    /** Published files whose rows may be missing. */
    filesBehind: bundlesBehind,
    /** Blocks from the last one of the table to the newest final one; null: unknown. */
    blocksBehindFinal: final < 0 || lastBlock === null ? null : Math.max(0, final - lastBlock),
    /** Files that are to be written again. */
    rebuilding,
    paused,
    /** Whether history is written now. */
    open: createOpeningHours().at(windows, now).open,
    windows,
    share,
  };
}
