import type { BlockRange, Kind, TableName } from '@packhouse/chain';
import {
  type ColumnSpec,
  type RowSource,
  readCodedRows,
  readTransfers,
  type Schema,
  TRANSFER_PARTS,
  TRANSFERS,
  toSchema,
} from '@packhouse/client';
import type { PublishedFile } from '@packhouse/database';
import { openSource, openSourceReceipts, readSourceTimes, type SourceParts } from './sources.js';

/** Rows of a batch, or more if a block has more: row groups end with one. */
const BATCH_ROWS = 1_024;

/** Rows as the reader of bundles yields them. */
type Rows = ReturnType<typeof readCodedRows>;

/** A range of blocks with the bundles that have its rows, ascending, by kind. */
interface Range extends BlockRange {
  files: Partial<Record<Kind, readonly PublishedFile[]>>;
}

/** The columns of a table of the lake, and their version. */
export function tableSchema(table: TableName): { name: string; columns: readonly ColumnSpec[] } {
  return table === 'transfers' ? TRANSFERS : toSchema(table);
}

/** The kinds whose bundles a table needs for the rows of a block, of those that a network keeps; none: it has no such table. */
export function needsOf(table: TableName, kinds: readonly Kind[]): readonly Kind[] {
  const has = (kind: Kind): boolean => kinds.includes(kind);
  if (table === 'transfers') return has('logs') ? (['logs', 'traces', 'blocks'] as const).filter(has) : [];
  if (!has(table)) return [];
  // Transactions have columns of their receipts, which are null if those are not kept.
  return table === 'transactions' && has('receipts') ? ['transactions', 'receipts'] : [table];
}

/** About how many bytes a table has for one of the bundles of its first kind: measured on blocks of mainnet. */
const SHARES: Readonly<Record<TableName, number>> = {
  blocks: 0.01,
  transactions: 0.5,
  receipts: 0.5,
  logs: 0.75,
  traces: 0.6,
  transfers: 0.9,
};

/** About how many bytes the rows of bundles of the first kind have in a file. */
export function expectedBytes(table: TableName, bundleBytes: number): number {
  return bundleBytes * SHARES[table];
}

/** The rows of a range, in batches. Throws as `openSource`, BUNDLE_INVALID, RECORD_INVALID. */
export function readTableRows(
  parts: SourceParts,
  { kind, chainId }: { kind: TableName; chainId: number },
  range: Range,
): Rows | ReturnType<typeof readTransfers> {
  if (kind !== 'transfers') {
    const receipts =
      kind === 'transactions' ? openSourceReceipts(parts, range.files.receipts ?? []) : undefined;
    return readKind(parts, range, { kind, chainId, schema: toSchema(kind), receipts });
  }
  const read = (of: keyof typeof TRANSFER_PARTS): Rows =>
    readKind(parts, range, { kind: of, chainId, schema: TRANSFER_PARTS[of] });
  return readTransfers({ logs: read('logs'), traces: read('traces'), blocks: read('blocks') }, chainId);
}

/** The rows of a kind; one bundle is on the disk at a time. */
async function* readKind(
  parts: SourceParts,
  { firstBlock, lastBlock, files }: Range,
  of: { kind: Kind; chainId: number; schema: Schema; receipts?: RowSource['receipts'] },
): Rows {
  for (const bundle of files[of.kind] ?? []) {
    parts.signal.throwIfAborted();
    const source = await openSource(parts, of.kind, bundle);
    yield* readCodedRows({
      ...of,
      path: source.path,
      fileFrom: bundle.firstBlock,
      times: () => readSourceTimes(parts, of.kind, bundle),
      from: firstBlock,
      to: lastBlock,
      batchRows: BATCH_ROWS,
    });
    await source.close();
  }
}
