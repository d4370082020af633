import { isKind, type Kind } from '@packhouse/chain';
import type { Database, LakeTable } from '@packhouse/database';
import { z } from 'zod';
import { networkField, toPublic } from '../operation/fields.js';
import { findNetwork } from '../operation/find-network.js';
import { read } from '../operation/operation.js';

/** Ranges of complete blocks that an answer has at most; the first ones. */
const MAX_RANGES = 100;

export const listLakeTables = read({
  name: 'lake',
  role: 'viewer',
  sharedForMs: 5_000,
  summary:
    'The tables of the lake, by network and kind: files, rows, complete blocks, and how far behind they are.',
  input: z.object({ network: networkField.optional() }),
  run: async ({ database }, { network }) => {
    const named = network === undefined ? undefined : await findNetwork(database, network);
    const all = named === undefined ? (await database.networks.list()).map(({ id }) => id) : [named];
    const tables = [];
    for (const id of all) {
      for (const table of await database.network(id).lake.tables())
        tables.push(await describeTable(database, id, table));
    }
    return tables;
  },
});

async function describeTable(database: Database, network: string, table: LakeTable) {
  const { lake, manifest } = database.network(network);
  const { kind, snapshot, madeAt, heads } = table;
  const view = { kind, snapshot, maxBlock: Number.MAX_SAFE_INTEGER };
  // One chunk: the sum of all.
  const [totals] = await lake.chunks({ ...view, chunkBlocks: Number.MAX_SAFE_INTEGER });
  const ranges = await lake.ranges(view, MAX_RANGES);
  // Those of its own kind, and what else its rows are of.
  const kinds = new Set([...(isKind(kind) ? [kind] : []), ...(Object.keys(heads) as Kind[])]);
  let filesBehind = 0;
  for (const each of kinds) {
    const tip = await manifest.tip(each);
    filesBehind += (tip?.sequence ?? -1) - (heads[each]?.sequence ?? -1);
  }
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
    filesBehind,
  };
}
