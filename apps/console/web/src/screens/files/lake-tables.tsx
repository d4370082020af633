import { formatBytes, formatCount, pluralize } from '../../lib/format.js';
import { Ago } from '../../parts/facts.js';
import { ReadTable } from '../../parts/table.js';

/** The tables of the lake of a network, and how far behind they are. */
export function LakeTables({ network }: { network: string }) {
  return (
    <ReadTable
      headed
      name="lake"
      input={{ network }}
      label="Lake tables"
      keyOf={({ kind }) => kind}
      empty="No tables yet. Packers with LAKE=on write them."
      numbers={['Rows', 'Size', 'Files', 'Snapshot', 'Blocks behind finalized', 'Files behind']}
      columns={{
        Table: ({ kind }) => kind,
        State: ({ paused, open, rebuilding }) =>
          paused
            ? 'paused'
            : rebuilding > 0
              ? `rebuilding ${pluralize(rebuilding, 'file')}`
              : open
                ? 'active'
                : 'window closed',
        Rows: ({ rows }) => formatCount(rows),
        Size: ({ bytes }) => formatBytes(bytes),
        Files: ({ files }) => formatCount(files),
        Snapshot: ({ snapshot }) => formatCount(snapshot),
        'Blocks behind finalized': ({ blocksBehindFinal }) =>
          blocksBehindFinal === null ? '-' : formatCount(blocksBehindFinal),
        'Files behind': ({ filesBehind }) => formatCount(filesBehind),
        Changed: ({ madeAt }) => <Ago at={madeAt} />,
      }}
    />
  );
}
