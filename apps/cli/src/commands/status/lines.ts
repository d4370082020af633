import { KINDS } from '@packhouse/chain';
import { HOLE_REASONS } from '@packhouse/database';
import type { AuditState } from '@packhouse/operations';
import type { CoverageSummary, NetworkStatus } from '@packhouse/report';
import { counted, formatBytes, formatCount, formatRange } from '../../terminal/format.js';
import { table } from '../../terminal/table.js';

/** The progress of a network, as one line. */
export function describeStanding({
  network,
  head,
  finalized,
  completeThrough,
  firstRequested,
}: Pick<CoverageSummary, 'network' | 'head' | 'finalized' | 'completeThrough' | 'firstRequested'>): string {
  const parts = [head === null ? 'head unknown' : `head ${head}`];
  if (head !== null && finalized !== null)
    parts.push(finalized < 0 ? 'none finalized yet' : `finalized ${finalized}`);
  if (firstRequested === null) parts.push('no backfills');
  else if (completeThrough === null) parts.push(`incomplete from ${firstRequested}`);
  else {
    const behind = finalized === null ? 0 : finalized - completeThrough;
    parts.push(`complete through ${completeThrough} (from ${firstRequested})`);
    if (behind > 0) parts.push(`${counted(behind, 'block')} behind finalized`);
  }
  return `${network}: ${parts.join(', ')}.`;
}

/** The blocks longest in quarantine, as one line; null if there are none. */
export function describeOldest({ network, oldestQuarantine }: CoverageSummary): string | null {
  if (oldestQuarantine === null) return null;
  const { firstBlock, lastBlock, cause, attempts, firstSeen, nextTry } = oldestQuarantine;
  const blocks = `${firstBlock === lastBlock ? 'block' : 'blocks'} ${formatRange(firstBlock, lastBlock)}`;
  return `${network}: longest in quarantine: ${blocks}, since ${firstSeen.toISOString()}, ${cause}, ${counted(attempts, 'attempt')}, next retry ${nextTry.toISOString()}.`;
}

/** That no ingester leads a network, as one line; null if one does. */
export function describeLeader({
  network,
  leaderless,
}: Pick<NetworkStatus, 'network' | 'leaderless'>): string | null {
  if (leaderless === null) return null;
  const since = leaderless.since === null ? '' : ` since ${leaderless.since.toISOString()}`;
  return `${network}: no ingester leads${since}, so nothing new is planned. See whether one runs and reaches Postgres.`;
}

/** What published files of a network do not prove, a line per reason; null if there is none. */
export function describeNotProved({
  network,
  notProved,
}: Pick<NetworkStatus, 'network' | 'notProved'>): string | null {
  if (notProved.length === 0) return null;
  return notProved.map(({ proof, because }) => `${network}: not proved: ${proof}: ${because}`).join('\n');
}

/** The ranges that wait for an outside cause, a line each. */
export function describeCauses({ network, causes }: Pick<NetworkStatus, 'network' | 'causes'>): string[] {
  return causes.map(({ from, to, kinds, message, nextTry }) => {
    const blocks = `${from === to ? 'block' : 'blocks'} ${formatRange(from, to)}`;
    const what = kinds.length === KINDS.length ? 'all kinds' : kinds.join(', ');
    return `${network}: ${blocks} (${what}) waiting, next retry ${nextTry.toISOString()}: ${message}`;
  });
}

/** A table of the requested blocks that are not published, by reason and kind; null if there are none. */
export function describeReasons(summaries: readonly CoverageSummary[]): string | null {
  const kinds = [...new Set(summaries.flatMap((summary) => summary.kinds.map(({ kind }) => kind)))];
  const rows = summaries.flatMap((summary) =>
    HOLE_REASONS.filter((reason) => summary.kinds.some(({ missing }) => missing[reason] !== undefined)).map(
      (reason) => [
        summary.network,
        reason,
        ...kinds.map((kind) => {
          const blocks = summary.kinds.find((each) => each.kind === kind)?.missing[reason];
          return blocks === undefined ? '-' : formatCount(blocks);
        }),
      ],
    ),
  );
  if (rows.length === 0) return null;
  return table([['NETWORK', 'HOLES', ...kinds.map((kind) => kind.toUpperCase())], ...rows]);
}

/** The results of audits and repairs as one line; null if there are none. */
export function describeAudit({ network, last, superseded }: AuditState): string | null {
  const parts: string[] = [];
  if (last !== null) {
    const found = last.findings === 0 ? 'no damage' : counted(last.findings, 'finding');
    const read = `${counted(last.bundles, 'bundle')}, ${formatBytes(last.bytesRead)}`;
    parts.push(`last audit ${last.finishedAt.toISOString()} (${read}): ${found}`);
  }
  if (superseded.length > 0) {
    const counts = superseded.map(({ kind, count }) => `${formatCount(count)} ${kind}`).join(', ');
    parts.push(`superseded bundles kept: ${counts}`);
  }
  return parts.length === 0 ? null : `${network}: ${parts.join('; ')}.`;
}
