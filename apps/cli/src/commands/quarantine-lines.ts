import type { Kind } from '@packhouse/chain';
import type { KindState, QuarantineEntry } from '@packhouse/operations';
import { formatCount, formatDuration, formatRange } from '../terminal/format.js';

/** The time until the next retry; `now` is in milliseconds since the epoch. */
export function nextTry(row: QuarantineEntry, now: number): string {
  const seconds = (row.nextTry.getTime() - now) / 1_000;
  return seconds <= 0 ? 'now' : `in ${formatDuration(seconds)}`;
}

/** All facts of a row, as lines. */
export function describeRow(
  row: QuarantineEntry & { standing: Record<Kind, KindState>; advice: string },
  at: { block: number; now: number },
): string {
  const blocks = row.to - row.from + 1;
  const title =
    blocks === 1
      ? `Block ${row.from} of ${row.network} is quarantined: ${row.cause}`
      : `Blocks ${row.from} to ${row.to} of ${row.network} (${formatCount(blocks)}) are quarantined: ${row.cause}`;
  const others = (Object.entries(row.standing) as [Kind, KindState][])
    .filter(([kind]) => !row.kinds.includes(kind))
    .map(([kind, state]) => `${kind} ${state}`);
  const tried = row.tried.map(
    ({ upstream, message, payloadDigest }) =>
      `${upstream}: ${message}${payloadDigest === null ? '' : ` (sha256 of the response: ${payloadDigest})`}`,
  );
  const before = row.from === 0 ? '' : `their bundles end at block ${row.from - 1} and `;
  const fields: [string, string[]][] = [
    ['message', [row.message]],
    ['responses', tried.length === 0 ? [row.upstream ?? 'none'] : tried],
    ['affected', [`${row.kinds.join(', ')}; ${before}continue after block ${row.to}`]],
    [`block ${at.block}`, others.length === 0 ? [] : [`other kinds: ${others.join(', ')}`]],
    ['attempts', [`${row.attempts}, first at ${row.firstSeen.toISOString()}`]],
    ['next retry', [`${nextTry(row, at.now)} (${row.nextTry.toISOString()})`]],
    [
      'remedy',
      [
        row.advice,
        `Then: packhouse quarantine retry ${formatRange(row.from, row.to)} --network ${row.network}`,
      ],
    ],
  ];
  const lines = fields.flatMap(([name, texts]) =>
    texts.map((text, i) => `  ${(i === 0 ? name : '').padEnd(14)}${text}`),
  );
  return [title, ...lines].join('\n');
}
