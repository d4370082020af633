import { isKind, type Kind, type TableName } from '@packhouse/chain';
import type { LakeTable, NetworkDatabase } from '@packhouse/database';

/** How far a table of the lake is. */
export interface LakeReport {
  table: LakeTable;
  /** null: it has no rows. */
  lastBlock: number | null;
  /** Published bundles whose rows may be missing. */
  bundlesBehind: number;
  /** Files that are to be written again. */
  rebuilding: number;
}

/** How far the tables of a network are. Each takes a few steps in indexes, whatever it has. */
export async function lakeReport({
  lake,
  manifest,
}: Pick<NetworkDatabase, 'lake' | 'manifest'>): Promise<LakeReport[]> {
  const reports: LakeReport[] = [];
  for (const table of await lake.tables()) {
    let bundlesBehind = 0;
    for (const kind of kindsOf(table.kind, table)) {
      const tip = await manifest.tip(kind);
      bundlesBehind += Math.max(0, (tip?.sequence ?? -1) - (table.heads[kind]?.sequence ?? -1));
    }
    const rebuilding = (await lake.toRebuild(table.kind)).length;
    reports.push({ table, lastBlock: await lake.lastBlock(table.kind), bundlesBehind, rebuilding });
  }
  return reports;
}

/** The kinds that a table's rows are of: its own, and those that it named. */
function kindsOf(name: TableName, { heads }: LakeTable): Set<Kind> {
  return new Set([...(isKind(name) ? [name] : []), ...(Object.keys(heads) as Kind[])]);
}
