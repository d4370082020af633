import type { Kind } from '@packhouse/chain';
import type { BundleRow, Database } from '@packhouse/database';
import type { AuditReport } from './audit-report.js';
import type { BundleRecord } from './read-bundles.js';

export interface Header {
  number: number;
  hash: string;
  parentHash: string;
  /** The bundle of `blocks` that holds it. */
  row: BundleRow;
}

/** The block that was checked last. */
export interface Links {
  last: Header | null;
}

/**
 * Checks that a block follows the one before, within a bundle and into the next, and that the index rows of all
 * bundles that begin or end with it have its hashes.
 */
export function checkLinks(
  report: AuditReport,
  links: Links,
  header: Header,
  records: ReadonlyMap<Kind, BundleRecord>,
): void {
  const { number, hash, parentHash, row } = header;
  const before = links.last;
  links.last = header;
  if (before !== null && before.number === number - 1 && before.hash !== parentHash) {
    report.fault(row, {
      cause: 'parentLink',
      what: `block ${number} names ${parentHash} as its parent, but block ${before.number} is ${before.hash}${
        before.row.objectKey === row.objectKey ? '' : ` (${before.row.objectKey})`
      }.`,
      block: number,
      expected: before.hash,
      got: parentHash,
    });
  }
  for (const { row: bundle } of records.values()) {
    const compare = (column: string, got: string, expected: string): void => {
      if (got === expected) return;
      const what = `its index row gives ${got} as ${column}, but block ${number} has ${expected}.`;
      report.fault(bundle, { cause: 'blockHash', what, block: number, expected, got });
    };
    if (bundle.firstBlock === number) {
      compare('first_hash', bundle.firstHash, hash);
      compare('first_parent_hash', bundle.firstParentHash, parentHash);
    }
    if (bundle.lastBlock === number) compare('last_hash', bundle.lastHash, hash);
  }
}

/** Checks the hashes in a row against those of the rows right before and after it. */
export async function checkNeighbours(
  { database, report }: { database: Pick<Database, 'network'>; report: AuditReport },
  row: BundleRow,
  known: BundleRow | null,
): Promise<void> {
  const { network, kind, firstBlock, lastBlock } = row;
  const find = (number: number): Promise<BundleRow | null> =>
    database
      .network(network)
      .bundles.covering(kind, number)
      .catch(() => null);
  const before =
    known?.lastBlock === firstBlock - 1 ? known : firstBlock === 0 ? null : await find(firstBlock - 1);
  if (before !== null) linkRows(report, before, row);
  const after = await find(lastBlock + 1);
  if (after !== null) linkRows(report, row, after);
}

function linkRows(report: AuditReport, before: BundleRow, row: BundleRow): void {
  if (row.firstParentHash === before.lastHash) return;
  report.fault(row, {
    cause: 'parentLink',
    what: `block ${row.firstBlock} names ${row.firstParentHash} as its parent, but the bundle before it, ${before.objectKey}, ends with ${before.lastHash}.`,
    block: row.firstBlock,
    expected: before.lastHash,
    got: row.firstParentHash,
  });
}
