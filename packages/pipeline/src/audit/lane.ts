import type { BundleRow } from '@packhouse/database';
import { isPackhouseError } from '@packhouse/runtime';
import type { AuditReport } from './audit-report.js';
import { memberFault, type OpenedBundle } from './open-bundle.js';

/** One block's record of one kind, as a published file holds it. */
export interface LaneRecord {
  number: number;
  row: BundleRow;
  /** null: too large to be held, to be streamed. */
  text: Buffer | null;
  /** Only here to check others against; its bundle is not audited now. */
  side?: true;
}

/** Bundles of a kind whose objects are being read while another one is checked. */
const READ_AHEAD = 2;
/** Larger ones are read only when it is their turn. */
const READ_AHEAD_BYTES = 8_000_000;

/** Opens bundles in order, the next ones while the current one is worked on. */
export async function* openAhead(
  rows: AsyncIterable<BundleRow>,
  open: (row: BundleRow) => Promise<OpenedBundle | null>,
): AsyncGenerator<OpenedBundle, void, undefined> {
  const iterator = rows[Symbol.asyncIterator]();
  const opening: { row: BundleRow; bundle: Promise<OpenedBundle | null> }[] = [];
  let ended = false;
  let held: BundleRow | null = null;
  try {
    for (;;) {
      while (!ended && opening.length < READ_AHEAD) {
        if (held === null) {
          const next = await iterator.next();
          if (next.done === true) {
            ended = true;
            break;
          }
          held = next.value;
        }
        if (opening.length > 0 && held.byteLength > READ_AHEAD_BYTES) break;
        const bundle = open(held);
        bundle.catch(() => undefined);
        opening.push({ row: held, bundle });
        held = null;
      }
      const first = opening.shift();
      if (first === undefined) return;
      const opened = await first.bundle;
      if (opened !== null) yield opened;
    }
  } finally {
    await Promise.allSettled(opening.map(({ bundle }) => bundle));
    await iterator.return?.();
  }
}

/**
 * The records of the opened bundles, block by block. A bundle that turns out not to be what its fragment table says
 * ends where that shows, and is reported; `done` is called for each when the last of its records was taken back.
 */
export async function* laneRecords(
  bundles: AsyncIterable<OpenedBundle>,
  report: AuditReport,
  done: (row: BundleRow) => void,
): AsyncGenerator<LaneRecord, void, undefined> {
  for await (const { row, bytes, fragments } of bundles) {
    try {
      if (fragments === null) yield { number: row.start, row, text: null };
      else {
        for await (const { fragment, records } of fragments) {
          for (const [i, text] of records.entries()) yield { number: fragment.startBlock + i, row, text };
        }
      }
    } catch (error) {
      if (!isPackhouseError(error, 'BUNDLE_INVALID')) throw error;
      report.fault(row, await memberFault(bytes, error));
    }
    done(row);
  }
}
