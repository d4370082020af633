import { HOLE_REASONS } from '@packhouse/database';
import type { CoverageSummary } from '@packhouse/pipeline';
import { formatCount } from '../format.js';
import { table } from '../io.js';

/** How far a network is, as one line. */
export function describeStanding({
  network,
  head,
  finalized,
  completeTo,
  firstWanted,
}: Pick<CoverageSummary, 'network' | 'head' | 'finalized' | 'completeTo' | 'firstWanted'>): string {
  const parts = [
    head === null ? 'no head seen yet' : `head ${head}`,
    ...(head === null || finalized === null
      ? []
      : [finalized < 0 ? 'nothing final yet' : `final up to ${finalized}`]),
  ];
  if (firstWanted === null) parts.push('nothing wanted');
  else if (completeTo === null) parts.push(`block ${firstWanted} is not there in all kinds yet`);
  else parts.push(`complete in all kinds from ${firstWanted} up to ${completeTo}`);
  return `${network}: ${parts.join(', ')}.`;
}

/** What has been in quarantine for the longest time, as one line; null where nothing is. */
export function describeOldest({ network, oldestQuarantine }: CoverageSummary): string | null {
  if (oldestQuarantine === null) return null;
  const { start, end, cause, attempts, firstSeen, nextTry } = oldestQuarantine;
  const blocks = start === end ? `block ${start}` : `blocks ${start}-${end}`;
  return `${network}: longest in quarantine ${blocks}, since ${firstSeen.toISOString()}, ${cause}, ${attempts} ${attempts === 1 ? 'try' : 'tries'}, the next at ${nextTry.toISOString()}.`;
}

/** Blocks that are wanted by range but not published, by reason and kind; null where there are none. */
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
