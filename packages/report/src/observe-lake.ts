import type { Database } from '@packhouse/database';
import type { Context } from '@packhouse/runtime';
import { lakeReport } from './lake-report.js';
import { createStateGauges } from './state-gauge.js';

/** Creates the gauges of the tables of the lake. */
export function createLakeGauges({ context, database }: { context: Context; database: Database }) {
  const state = createStateGauges(context.metrics);
  const perTable = ['network', 'table'];
  const block = state.gauge('packhouse_lake_block', 'Last block of a table of the lake', perTable);
  const behind = state.gauge(
    'packhouse_lake_bundles_behind',
    'Published bundles whose rows may be missing in a table of the lake',
    perTable,
  );
  const paused = state.gauge('packhouse_lake_paused', '1 while the tables of a network are not written', [
    'network',
  ]);
  return {
    /** Reads how far the tables of a network are. */
    async look(network: string): Promise<void> {
      const own = database.network(network);
      const reports = await lakeReport(own);
      if (reports.length === 0) return;
      paused.set({ network }, (await own.lake.control()).paused ? 1 : 0);
      for (const { table, lastBlock, bundlesBehind } of reports) {
        behind.set({ network, table: table.kind }, bundlesBehind);
        if (lastBlock !== null) block.set({ network, table: table.kind }, lastBlock);
      }
    },
    forget(): void {
      for (const gauge of [block, behind, paused]) gauge.forget();
    },
  };
}
