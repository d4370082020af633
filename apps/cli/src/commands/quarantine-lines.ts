import type { Kind } from '@packhouse/chain';
import type { QuarantineRow } from '@packhouse/database';
import type { KindStanding } from '@packhouse/operations';
import { formatCount, formatDuration, formatRange } from '../terminal/format.js';

/** The time until the next try; `now` is in milliseconds since the epoch. */
export function nextTry(row: QuarantineRow, now: number): string {
  const seconds = (row.nextTry.getTime() - now) / 1_000;
  return seconds <= 0 ? 'now' : `in ${formatDuration(seconds)}`;
}

/** All facts of a row, as lines. */
export function describeRow(
  row: QuarantineRow & { standing: Record<Kind, KindStanding>; advice: string },
  at: { block: number; now: number },
): string {
  const blocks = row.end - row.number + 1;
  const title =
    blocks === 1
      ? `Block ${row.number} of ${row.network} is quarantined: ${row.cause}`
      : `Blocks ${row.number} to ${row.end} of ${row.network} (${formatCount(blocks)}) are quarantined: ${row.cause}`;
  const others = (Object.entries(row.standing) as [Kind, KindStanding][])
    .filter(([kind]) => !row.kinds.includes(kind))
    .map(([kind, state]) => `${kind} ${state}`);
  const tried = row.tried.map(
    ({ upstream, message, payloadDigest }) =>
      `${upstream}: ${message}${payloadDigest === null ? '' : ` (answer sha256 ${payloadDigest})`}`,
  );
  const before = row.number === 0 ? '' : `their bundles end at block ${row.number - 1} and `;
  const fields: [string, string[]][] = [
    ['why', [row.message]],
    ['upstreams', tried.length === 0 ? [row.upstream ?? 'none was asked'] : tried],
    ['held back', [`${row.kinds.join(', ')}; ${before}continue after block ${row.end}`]],
    [`block ${at.block}`, others.length === 0 ? [] : [`its other kinds: ${others.join(', ')}`]],
    ['tries', [`${row.attempts}, the first ${row.firstSeen.toISOString()}`]],
    ['next try', [`${nextTry(row, at.now)} (${row.nextTry.toISOString()})`]],
    [
      'what to do',
      [
        row.advice,
        `Then: packhouse quarantine retry ${formatRange(row.number, row.end)} --network ${row.network}`,
      ],
    ],
  ];
  const lines = fields.flatMap(([name, texts]) =>
    texts.map((text, i) => `  ${(i === 0 ? name : '').padEnd(14)}${text}`),
  );
  return [title, ...lines].join('\n');
}
