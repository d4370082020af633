import { KINDS } from '@packhouse/chain';
import { HOLE_REASONS } from '@packhouse/database';
import type { AuditStanding } from '@packhouse/operations';
import type { CoverageSummary, NetworkStatus } from '@packhouse/pipeline';
import { counted, formatBytes, formatCount, formatRange } from '../terminal/format.js';
import { table } from '../terminal/io.js';

/** The progress of a network, as one line. */
export function describeStanding({
  network,
  head,
  finalized,
  completeTo,
  firstWanted,
}: Pick<CoverageSummary, 'network' | 'head' | 'finalized' | 'completeTo' | 'firstWanted'>): string {
  const parts = [head === null ? 'no head seen yet' : `head ${head}`];
  if (head !== null && finalized !== null)
    parts.push(finalized < 0 ? 'nothing final yet' : `final up to ${finalized}`);
  if (firstWanted === null) parts.push('nothing wanted');
  else if (completeTo === null) parts.push(`block ${firstWanted} is not complete in all kinds yet`);
  else parts.push(`complete in all kinds from ${firstWanted} up to ${completeTo}`);
  return `${network}: ${parts.join(', ')}.`;
}

/** The blocks longest in quarantine, as one line; null if there are none. */
export function describeOldest({ network, oldestQuarantine }: CoverageSummary): string | null {
  if (oldestQuarantine === null) return null;
  const { start, end, cause, attempts, firstSeen, nextTry } = oldestQuarantine;
  const blocks = `${start === end ? 'block' : 'blocks'} ${formatRange(start, end)}`;
  return `${network}: longest in quarantine ${blocks}, since ${firstSeen.toISOString()}, ${cause}, ${counted(attempts, 'try', 'tries')}, the next at ${nextTry.toISOString()}.`;
}

/** What published files of a network do not prove, a line for each reason; null if there is none. */
export function describeNotProved({
  network,
  notProved,
}: Pick<NetworkStatus, 'network' | 'notProved'>): string | null {
  if (notProved.length === 0) return null;
  return notProved.map(({ proof, because }) => `${network}: not proved: ${proof}: ${because}`).join('\n');
}

/** The ranges that wait for a cause outside of their blocks, a line each. */
export function describeCauses({ network, causes }: Pick<NetworkStatus, 'network' | 'causes'>): string[] {
  return causes.map(({ number, end, kinds, message, nextTry }) => {
    const blocks = `${number === end ? 'block' : 'blocks'} ${formatRange(number, end)}`;
    const what = kinds.length === KINDS.length ? 'all kinds' : kinds.join(', ');
    return `${network}: ${blocks} wait in ${what}, and one of them is tried at ${nextTry.toISOString()}. ${message}`;
  });
}

/** A table of the wanted blocks that are not published, by reason and kind; null if there are none. */
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
export function describeAudit({ network, last, superseded }: AuditStanding): string | null {
  const parts: string[] = [];
  if (last !== null) {
    const found = last.findings === 0 ? 'no damage' : `${formatCount(last.findings)} findings`;
    const read = `${formatCount(last.bundles)} bundles, ${formatBytes(last.bytesRead)}`;
    parts.push(`last audited at ${last.finishedAt.toISOString()} (${read}): ${found}`);
  }
  if (superseded.length > 0) {
    const counts = superseded.map(({ kind, count }) => `${formatCount(count)} ${kind}`).join(', ');
    parts.push(`replaced by repaired versions and kept: ${counts}`);
  }
  return parts.length === 0 ? null : `${network}: ${parts.join('; ')}.`;
}
