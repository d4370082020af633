import { hash } from 'node:crypto';
import {
  type BlockRange,
  intersectRanges,
  type Kind,
  type ProofPolicy,
  type TableName,
  unionRanges,
} from '@packhouse/chain';
import type { BundleRow, Database } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { type Context, PackhouseError } from '@packhouse/runtime';
import { auditLake } from './audit-lake.js';
import { auditNetwork } from './audit-network.js';
import { type AuditCounts, createReport, type Unchecked } from './audit-report.js';
import { checkManifest } from './check-manifest.js';
import type { Finding, FindingCause } from './finding.js';
import { checkObjects } from './orphans.js';

export interface AuditParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  /** A network's proof policy, if its networks file is available. */
  getPolicy?(network: string): ProofPolicy | undefined;
}

export interface AuditRequest {
  networks: readonly string[];
  kinds: readonly Kind[];
  range: BlockRange;
  /** Share of the bundles that is audited, 0 to 1. */
  sample: number;
  /** Decides which bundles a sample holds. */
  seed: string;
  /** Whether the object list is compared with the index. */
  objects: boolean;
  /** Bundles that are audited whether the sample holds them or not. */
  always?(bundle: BlockRange & { network: string; kind: Kind }): boolean;
  /** The same of data files of the lake. */
  alwaysFile?(file: BlockRange & { network: string; kind: TableName }): boolean;
}

export interface AuditEvents {
  onFinding?(finding: Finding): void;
  /** A bundle was checked; `damaged` says whether something was found in it by then. */
  onChecked?(row: BundleRow, damaged: boolean, counts: Readonly<AuditCounts>): void;
  /** Called, and awaited, before a bundle of so many bytes is read. */
  pace?(bytes: number): Promise<void>;
}

export interface AuditSummary extends AuditCounts {
  seconds: number;
  bytesPerSecond: number;
  causes: Partial<Record<FindingCause, number>>;
  unchecked: Unchecked[];
}

/**
 * Reads published objects back and checks them against the index, their block headers and each other; reports
 * differences and continues. Throws AUDIT_EMPTY if nothing is published in the range, and errors of store and database.
 */
export async function audit(
  parts: AuditParts,
  request: AuditRequest,
  events: AuditEvents,
  signal: AbortSignal,
): Promise<AuditSummary> {
  const { context, database, objectStore } = parts;
  const startedAt = context.clock.elapsed();
  await refuseEmpty(database, request);
  const report = createReport({
    onFinding: (finding) => events.onFinding?.(finding),
    onChecked: (row, damaged) => events.onChecked?.(row, damaged, report.counts),
  });
  const { kinds, range, sample, seed } = request;
  for (const network of request.networks) {
    await auditNetwork(
      { database, objectStore, report, policy: parts.getPolicy?.(network), pace: events.pace },
      {
        network,
        kinds,
        range,
        chosen: (bundle) =>
          toShare(`${seed}\n${network}\n${bundle.kind}\n${bundle.firstBlock}`) < sample ||
          request.always?.({ ...bundle, network }) === true,
      },
      signal,
    );
    if (request.objects && isWhole(range)) {
      for (const kind of kinds) await checkManifest({ database, report }, { network, kind }, signal);
    }
    if (request.objects) {
      await checkObjects({ ...parts, report }, { network, kinds, range, whole: isWhole(range) }, signal);
    }
    await auditLake(
      { context, database, objectStore, report, pace: events.pace },
      {
        network,
        kinds,
        range,
        chosen: (file) => choosesFile(request, { ...file, network }),
        objects: request.objects && isWhole(range),
      },
      signal,
    );
  }
  const seconds = Math.max(0.001, (context.clock.elapsed() - startedAt) / 1_000);
  return {
    ...report.counts,
    seconds,
    bytesPerSecond: report.counts.bytesRead / seconds,
    causes: report.causes(),
    unchecked: report.uncheckedBlocks(),
  };
}

/** Whether an audit reads a data file of the lake if it touches its range, and its table the kinds. */
export function choosesFile(
  { sample, seed, alwaysFile }: AuditRequest,
  file: BlockRange & { network: string; kind: TableName },
): boolean {
  const { network, kind, firstBlock } = file;
  return toShare(`${seed}\n${network}\nlake ${kind}\n${firstBlock}`) < sample || alwaysFile?.(file) === true;
}

/** Where a text is from 0 up to 1: a sample has the same bundles for the same seed, whatever else is published. */
export function toShare(text: string): number {
  return hash('sha256', text, 'buffer').readUIntBE(0, 6) / 2 ** 48;
}

export function isWhole({ firstBlock, lastBlock }: BlockRange): boolean {
  return firstBlock === 0 && lastBlock === Number.MAX_SAFE_INTEGER;
}

async function refuseEmpty(database: Database, { networks, kinds, range }: AuditRequest): Promise<void> {
  for (const network of networks) {
    for (const kind of kinds) {
      const { published } = await database.network(network).coverage(kind, range);
      if (intersectRanges(unionRanges(published), [range]).length > 0) return;
    }
  }
  const { firstBlock, lastBlock } = range;
  const open = lastBlock === Number.MAX_SAFE_INTEGER;
  const part = open ? ` from block ${firstBlock} on` : ` in blocks ${firstBlock} to ${lastBlock}`;
  const where = isWhole(range) ? '' : part;
  throw new PackhouseError({
    code: 'AUDIT_EMPTY',
    message: `Nothing is published of ${networks.join(', ')} (${kinds.join(', ')})${where}, so there is nothing to audit.`,
    hint: 'See `packhouse status` for what is published.',
    data: { networks, kinds, ...range },
  });
}
