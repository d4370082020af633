import { type FragmentInfo, readFragment, sliceOfMember, splitSlice } from '@packhouse/bundle';
import type { Kind } from '@packhouse/chain';
import type { BundleRow, Database } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { isPackhouseError } from '@packhouse/runtime';
import type { AuditReport } from './audit-report.js';
import { missingObject } from './finding.js';
import { isGiant } from './open-bundle.js';
import type { BundleRecord } from './read-bundles.js';

/** Bytes that one read from the store may fetch beyond the first fragment. */
const SLICE_BYTES = 1_000_000;

/** Reads single records of bundles that are not audited themselves, to check others against. */
export interface SideReader {
  /** The record of a block; null if there is no usable one. Call in ascending order of blocks. */
  at(kind: Kind, number: number, until: number): Promise<BundleRecord | null>;
}

interface Slice {
  row: BundleRow;
  fragments: FragmentInfo[];
  bodies: Buffer[];
  open: { fragment: FragmentInfo; records: Buffer[] } | null;
}

/**
 * Makes a reader that fetches only the fragments it needs, by their byte ranges. Damage is reported; a bundle known to
 * be damaged is not used.
 */
export function createSideReader(
  { database, objectStore, report }: { database: Database; objectStore: ObjectStore; report: AuditReport },
  network: string,
  signal: AbortSignal,
): SideReader {
  const slices = new Map<Kind, Slice>();

  const load = async (row: BundleRow, number: number, until: number): Promise<Slice | null> => {
    const last = Math.min(row.lastBlock, Math.max(number, until));
    const wanted = sliceOfMember(row.fragments, number, last).fragments;
    let bytes = 0;
    const some = wanted.filter(({ byteLength }, i) => {
      bytes += byteLength;
      return i === 0 || bytes <= SLICE_BYTES;
    });
    const end = (some.at(-1) as FragmentInfo).lastBlock;
    const { range, fragments } = sliceOfMember(row.fragments, number, end);
    try {
      const read = await objectStore.read(row.objectKey, { range, signal });
      report.read(read.length);
      return { row, fragments, bodies: splitSlice(fragments, read), open: null };
    } catch (error) {
      if (isPackhouseError(error, 'OBJECT_MISSING')) report.fault(row, missingObject(row, objectStore));
      else if (isPackhouseError(error, 'BUNDLE_INVALID') || isPackhouseError(error, 'OBJECT_MISMATCH'))
        damaged(row, error);
      else throw error;
      return null;
    }
  };

  const damaged = (row: BundleRow, error: Error): void =>
    report.fault(row, { cause: 'sha256', what: `the object ${row.objectKey} is damaged: ${error.message}` });

  return {
    async at(kind, number, until) {
      let slice: Slice | null | undefined = slices.get(kind);
      if (slice === undefined || number < slice.row.firstBlock || number > slice.row.lastBlock) {
        slices.delete(kind);
        const row = await database.network(network).bundles.covering(kind, number).catch(noBadRow);
        if (row === null || report.isDamaged(row) || isGiant(row)) return null;
        slice = { row, fragments: [], bodies: [], open: null };
      }
      const { row } = slice;
      if (report.isDamaged(row)) return null;
      const holds = ({ firstBlock, lastBlock }: FragmentInfo): boolean =>
        firstBlock <= number && number <= lastBlock;
      if (!slice.fragments.some(holds)) {
        slice = await load(row, number, until);
        if (slice === null) return null;
      }
      slices.set(kind, slice);
      if (slice.open === null || !holds(slice.open.fragment)) {
        const index = slice.fragments.findIndex(holds);
        const fragment = slice.fragments[index] as FragmentInfo;
        try {
          slice.open = {
            fragment,
            records: await readFragment({ fragment, body: slice.bodies[index] as Buffer }),
          };
        } catch (error) {
          if (!isPackhouseError(error, 'BUNDLE_INVALID')) throw error;
          damaged(row, error);
          return null;
        }
      }
      const { fragment, records } = slice.open;
      return { number, row, text: records[number - fragment.firstBlock] as Buffer, side: true };
    },
  };
}

/** An unreadable row is reported when its own kind is audited; here it is ignored. */
function noBadRow(error: unknown): null {
  if (isPackhouseError(error, 'BUNDLE_INVALID')) return null;
  throw error;
}
