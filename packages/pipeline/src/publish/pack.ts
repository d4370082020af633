import type { FragmentInfo } from '@packhouse/bundle';
import type { Kind } from '@packhouse/chain';
import { type Database, type NewBundle, withLock } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { Context } from '@packhouse/runtime';
import { cutRun, packableRuns } from './packable-runs.js';

interface PackParts {
  context: Context;
  database: Database;
  network: Network;
  /** Publishes one bundle of these fragments, its row after `turn`; null if its blocks were published meanwhile. */
  publish(
    request: { network: string; kind: Kind; fragments: readonly FragmentInfo[] },
    signal: AbortSignal,
    turn: Promise<void>,
  ): Promise<NewBundle | null>;
}

/** Bundles published at the same time: while one waits for the disk or for Postgres, the next is read and spliced. */
const AT_A_TIME = 3;

/**
 * Cuts and publishes bundles of one kind until nothing more can be packed. One packer per network and kind at a time: a
 * second one returns at once, and the next plan finds the remaining blocks. Safe to repeat at any point.
 */
export async function pack(parts: PackParts, kind: Kind, signal: AbortSignal): Promise<number> {
  let published = 0;
  await withLock(parts.database, `pack:${parts.network.id}:${kind}`, signal, async (stop) => {
    // A round that publishes nothing is the last: another packer has the same blocks, and would have them again.
    for (let before = -1; published > before; ) {
      before = published;
      published += await publishAll(parts, kind, await nextCuts(parts, kind), stop);
    }
  });
  return published;
}

/** Publishes the bundles, some at the same time, their rows in order. Returns how many; throws the first error. */
async function publishAll(
  { network, publish }: PackParts,
  kind: Kind,
  cuts: readonly FragmentInfo[][],
  signal: AbortSignal,
): Promise<number> {
  let published = 0;
  let failed: { error: unknown } | undefined;
  const underWay: Promise<void>[] = [];
  for (const fragments of cuts) {
    if (underWay.length === AT_A_TIME) await underWay.shift();
    if (failed !== undefined || signal.aborted) break;
    const before = underWay.at(-1) ?? Promise.resolve();
    const one = publish({ network: network.id, kind, fragments }, signal, before).then(
      (row) => {
        if (row !== null) published += 1;
      },
      (error: unknown) => {
        failed ??= { error };
      },
    );
    underWay.push(one);
  }
  await Promise.all(underWay);
  if (failed !== undefined) throw failed.error;
  signal.throwIfAborted();
  return published;
}

/** The bundles that can be packed now, of all runs. */
async function nextCuts(parts: PackParts, kind: Kind): Promise<FragmentInfo[][]> {
  const { network } = parts;
  const database = parts.database.network(network.id);
  const head = await database.head.get();
  if (head === null) return [];
  const wanted = await database.backfills.runs();
  const runs = packableRuns(await database.coverage(kind), wanted, kind, head.finalized);
  const cuts: FragmentInfo[][] = [];
  for (const run of runs) cuts.push(...(await cutRun({ database, network, kind, run })));
  return cuts;
}
