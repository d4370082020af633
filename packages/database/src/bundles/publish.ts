import { encodeFragmentTable } from '@packhouse/bundle';
import { PackhouseError } from '@packhouse/runtime';
import pg from 'pg';
import { hashBytes, kindCode, proofsMask } from '../connection/codes.js';
import type { Connections } from '../connection/connections.js';
import type { BundleRow } from '../database.js';
import { insertBundle } from './insert-bundle.js';
import { selectRanges } from './select-ranges.js';

const EXCLUSION_VIOLATION = '23P01';
const UNIQUE_VIOLATION = '23505';

/** Inserts the index row of a bundle (see Database.bundles.publish). Throws BUNDLE_OVERLAP, BUNDLE_INVALID. */
export async function publish(
  connections: Connections,
  networkId: number,
  bundle: Omit<BundleRow, 'publishedAt'>,
): Promise<void> {
  const { network, kind, start, end, fragments } = bundle;
  if (fragments[0]?.startBlock !== start || fragments.at(-1)?.endBlock !== end) {
    throw new PackhouseError({
      code: 'BUNDLE_INVALID',
      message: `The fragments of bundle ${start}-${end} (${kind} of ${network}) do not cover it.`,
      data: { network, kind, start, end },
    });
  }
  try {
    await connections.query(insertBundle, [
      networkId,
      kindCode(kind),
      start,
      end,
      bundle.byteLength,
      bundle.rawLength,
      proofsMask(bundle.proofs),
      bundle.formatVersion,
      Buffer.from(bundle.sha256, 'hex'),
      hashBytes(bundle.firstHash),
      hashBytes(bundle.firstParentHash),
      hashBytes(bundle.lastHash),
      bundle.objectKey,
      encodeFragmentTable(fragments),
    ]);
  } catch (error) {
    if (!isOverlap(error)) throw error;
    const values = [networkId, kindCode(kind), start, end];
    const there = await connections.query<{ start: number; end: number }>(selectRanges, values);
    const names = there.map((range) => `${range.start}-${range.end}`).join(', ');
    throw new PackhouseError({
      code: 'BUNDLE_OVERLAP',
      message: `Bundle ${start}-${end} (${kind} of ${network}) overlaps what is published: ${names}.`,
      hint: 'Another packer published these blocks: go on behind them.',
      data: { network, kind, start, end, published: there },
      cause: error,
    });
  }
}

function isOverlap(error: unknown): boolean {
  const { cause } = error as { cause?: unknown };
  return (
    cause instanceof pg.DatabaseError &&
    (cause.code === EXCLUSION_VIOLATION || cause.code === UNIQUE_VIOLATION)
  );
}
