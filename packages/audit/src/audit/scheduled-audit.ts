import { hash } from 'node:crypto';
import {
  type BlockRange,
  countBlocks,
  KINDS,
  type Kind,
  type TableName,
  unionRanges,
} from '@packhouse/chain';
import type { AuditRun, Database } from '@packhouse/database';
import { type Context, isPackhouseError } from '@packhouse/runtime';
import { type AuditParts, toShare } from './audit.js';
import { alarmedFiles } from './damage.js';
import { runAudit } from './run-audit.js';

interface ScheduledAuditRequest {
  network: string;
  /** Share of the bundles; at least one is audited. */
  share: number;
  /** The store is read no faster than this, in bytes a second on average. */
  bytesPerSecond: number;
  /** Decides which bundles the sample holds. */
  seed: string;
}

/**
 * Audits a sample of one network's files within a budget, and all known damaged ones, so that their alarm ends by itself
 * when they are sound. Damaged data files of the lake are written again. Notes the run; null if nothing is published yet.
 */
export async function scheduledAudit(
  parts: AuditParts,
  request: ScheduledAuditRequest,
  signal: AbortSignal,
): Promise<AuditRun | null> {
  const { context, database } = parts;
  const { network, share, bytesPerSecond, seed } = request;
  const known = await alarmedFiles(database, network);
  const one = await oneBundle(database, network, seed);
  const names = new Set([...known.bundles, ...(one === null ? [] : [one])].map(toName));
  const always = ({ kind, firstBlock }: BlockRange & { kind: TableName }): boolean =>
    names.has(toName({ kind, from: firstBlock }));
  try {
    const { summary } = await runAudit(
      parts,
      {
        networks: [network],
        kinds: KINDS,
        range: { firstBlock: 0, lastBlock: Number.MAX_SAFE_INTEGER },
        sample: share,
        seed,
        objects: false,
        always,
        alwaysFile: always,
      },
      { pace: createPace(context, bytesPerSecond, signal), rebuildLake: true },
      signal,
    );
    const { bundles, bytesRead, findings } = summary;
    const run = { network, finishedAt: new Date(context.clock.now()), bundles, bytesRead, findings };
    await database.network(network).audit.note(run);
    return run;
  } catch (error) {
    if (isPackhouseError(error, 'AUDIT_EMPTY')) return null;
    throw error;
  }
}

function toName({ kind, from }: { kind: TableName; from: number }): string {
  return `${kind} ${from}`;
}

/** A bundle at a pseudo-random place: a small network's sample would mostly be empty. */
async function oneBundle(
  database: Database,
  network: string,
  seed: string,
): Promise<{ kind: Kind; from: number } | null> {
  const place = `${seed}\n${network}`;
  const first = hash('sha256', place, 'buffer').readUInt8(6);
  for (let turn = 0; turn < KINDS.length; turn++) {
    const kind = KINDS[(first + turn) % KINDS.length] as Kind;
    const published = unionRanges((await database.network(network).coverage(kind)).published);
    const blocks = countBlocks(published);
    if (blocks === 0) continue;
    const number = blockAt(published, Math.floor(toShare(place) * blocks));
    const here = { firstBlock: number, lastBlock: number };
    const [bundle] = await database.network(network).bundles.ranges(kind, here);
    if (bundle !== undefined) return { kind, from: bundle.firstBlock };
  }
  return null;
}

/** The block with this index among the blocks of the ranges. */
function blockAt(ranges: readonly BlockRange[], index: number): number {
  let left = index;
  for (const { firstBlock, lastBlock } of ranges) {
    if (left <= lastBlock - firstBlock) return firstBlock + left;
    left -= lastBlock - firstBlock + 1;
  }
  return ranges.at(-1)?.lastBlock ?? 0;
}

/** Waits before each read until the bytes read so far fit the budget. */
function createPace(
  { clock }: Context,
  bytesPerSecond: number,
  signal: AbortSignal,
): (bytes: number) => Promise<void> {
  let freeAt = clock.elapsed();
  return async (bytes) => {
    const now = clock.elapsed();
    const wait = freeAt - now;
    freeAt = Math.max(freeAt, now) + (bytes / bytesPerSecond) * 1_000;
    if (wait > 0) await clock.sleep(wait, signal);
  };
}
