import { PackhouseError } from '@packhouse/runtime';
import pg from 'pg';
import { kindCode } from '../connection/codes.js';
import type { Connections } from '../connection/connections.js';
import type { NewBundle, Sealing } from '../database.js';
import { bundleValues, insertBundle } from './insert-bundle.js';
import { publishSealed } from './publish-sealed.js';
import type { PublishTools } from './publish-tools.js';
import { selectRanges } from './select-ranges.js';

const EXCLUSION_VIOLATION = '23P01';
const UNIQUE_VIOLATION = '23505';
const UNSEALED = { version: 1, publishedAt: null };

/** Inserts the index row of a bundle (see Database.bundles.publish). Throws BUNDLE_OVERLAP, BUNDLE_INVALID. */
export async function publish(
  tools: PublishTools,
  networkId: number,
  bundle: NewBundle,
  sealing?: Sealing,
): Promise<void> {
  checkCover(bundle);
  try {
    if (sealing !== undefined) await publishSealed(tools, networkId, bundle, sealing);
    else await tools.connections.query(insertBundle, bundleValues(networkId, bundle, UNSEALED));
  } catch (error) {
    throw await overlapOf(error, tools.connections, networkId, bundle);
  }
}

/** Throws BUNDLE_INVALID where the fragments are not those of the range. */
export function checkCover({ network, kind, start, end, fragments }: NewBundle): void {
  if (fragments[0]?.startBlock === start && fragments.at(-1)?.endBlock === end) return;
  throw new PackhouseError({
    code: 'BUNDLE_INVALID',
    message: `The fragments of bundle ${start}-${end} (${kind} of ${network}) do not cover it.`,
    data: { network, kind, start, end },
  });
}

/** BUNDLE_OVERLAP, naming what is in the way, where that is the reason; else the error as it is. */
async function overlapOf(
  error: unknown,
  connections: Connections,
  networkId: number,
  { network, kind, start, end }: NewBundle,
): Promise<unknown> {
  const { cause } = error as { cause?: unknown };
  const overlaps =
    cause instanceof pg.DatabaseError &&
    cause.schema === 'packhouse' &&
    cause.table === 'bundle' &&
    (cause.code === EXCLUSION_VIOLATION || cause.code === UNIQUE_VIOLATION);
  if (!overlaps) return error;
  const values = [networkId, kindCode(kind), start, end];
  const there = await connections.query<{ start: number; end: number }>(selectRanges, values);
  const names = there.map((range) => `${range.start}-${range.end}`).join(', ');
  return new PackhouseError({
    code: 'BUNDLE_OVERLAP',
    message: `Bundle ${start}-${end} (${kind} of ${network}) overlaps what is published: ${names}.`,
    hint: 'Another packer published these blocks: go on behind them.',
    data: { network, kind, start, end, published: there },
    cause: error,
  });
}
