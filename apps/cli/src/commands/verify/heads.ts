import type { KeyObject } from 'node:crypto';
import { toLog } from '@packhouse/client';
import { type CheckedLog, checkSeal, logOf, parseLogEntry, type SealedLogEntry } from '@packhouse/manifest';
import { PackhouseError } from '@packhouse/runtime';
import { readHeadSource, type Source, toName } from './source.js';

/** The newest signed head of each log, by its name. */
export type Heads = ReadonlyMap<string, SealedLogEntry>;

/**
 * Reads signed heads: entries, a line each, that are the newest of their logs when they are read. Throws USAGE,
 * DOWNLOAD_FAILED, and MANIFEST_INVALID if one is not signed with these keys.
 */
export async function readHeads(
  sources: readonly Source[],
  options: { keys: ReadonlyMap<string, KeyObject>; cwd: string; signal: AbortSignal },
): Promise<Heads> {
  const heads = new Map<string, SealedLogEntry>();
  for (const source of sources) {
    const lines = (await readHeadSource(source, options.cwd, options.signal)).split('\n');
    for (const [at, line] of lines.entries()) {
      if (line === '') continue;
      const head = parseLogEntry(line, `Line ${at + 1} of ${toName(source)}`);
      checkSeal(head, options.keys);
      const log = logName(head);
      if (head.sequence >= (heads.get(log)?.sequence ?? 0)) heads.set(log, head);
    }
  }
  return heads;
}

/** The name of the log of an entry. */
export function logName(entry: SealedLogEntry): string {
  return toLog({ network: entry.network, kind: logOf(entry) });
}

/** Throws MANIFEST_INVALID if the signed head of its log is another entry with this number. */
export function checkAgainstHead(entry: SealedLogEntry, heads: Heads): void {
  const head = heads.get(logName(entry));
  if (head === undefined || head.sequence !== entry.sequence || head.hash === entry.hash) return;
  throw new PackhouseError({
    code: 'MANIFEST_INVALID',
    message: `The manifest of ${logName(entry)} is forked: its entry ${entry.sequence} differs from the head signed on ${head.publishedAt}.`,
    hint: 'Ask its publisher which of the two is right.',
    data: { sequence: entry.sequence, hash: entry.hash, head: head.hash },
  });
}

/** The ends of the manifests, compared with the heads. */
export interface Ends {
  /** One sentence per log whose last entries are missing. */
  faults: string[];
  /** Logs that have every entry up to this head. */
  whole: { log: string; entries: number; signedAt: string }[];
  /** Logs that are known in parts: other entries, and repairs since, go unnoticed. */
  parts: string[];
  /** Logs without a known head: entries that are missing at their ends go unnoticed. */
  notChecked: string[];
}

/** Compares the ends of the manifests with the heads; logs of `expected` must be there if they have a head. */
export function checkEnds(
  {
    logs,
    parts,
    broken,
  }: { logs: readonly CheckedLog[]; parts: ReadonlySet<string>; broken: ReadonlySet<string> },
  heads: Heads,
  expected: (head: SealedLogEntry) => boolean,
): Ends {
  const ends: Ends = { faults: [], whole: [], parts: [...parts], notChecked: [] };
  const seen = new Map(logs.map((log) => [`${log.kind} of ${log.network}`, log.entries]));
  for (const [log, head] of heads) {
    const entries = seen.get(log) ?? (expected(head) ? 0 : null);
    // What comes behind a fault was not read.
    if (entries === null || broken.has(log) || parts.has(log)) continue;
    if (entries > head.sequence)
      ends.whole.push({ log, entries: head.sequence + 1, signedAt: head.publishedAt });
    else ends.faults.push(cutOff(log, entries, head));
  }
  ends.notChecked = [...seen.keys()].filter((log) => !heads.has(log) && !parts.has(log));
  return ends;
}

function cutOff(log: string, entries: number, { sequence, publishedAt }: SealedLogEntry): string {
  const end = entries === 0 ? 'has no entry' : `ends at entry ${entries - 1}`;
  const missing = entries === sequence ? `entry ${entries} is` : `entries ${entries} to ${sequence} are`;
  return `The manifest of ${log} is truncated: it ${end}, and ${missing} missing. The head signed on ${publishedAt} is entry ${sequence}.`;
}
