import type { KeyObject } from 'node:crypto';
import type { BlockRange } from '@packhouse/chain';
import { type CheckedLog, createVerifier, parseEntry, type SealedEntry } from '@packhouse/manifest';
import { isPackhouseError, PackhouseError } from '@packhouse/runtime';
import { nameOf, openSource, type Source, unreadable } from './open-source.js';
import { readLines } from './read-lines.js';

/** What the manifests say, as far as they could be checked. */
export interface Known {
  /** Entries of the ranges asked for, by range, in the order of the manifest. */
  byRange: Map<string, SealedEntry[]>;
  /** Ranges of no file, by log, neighbours joined. */
  absent: Map<string, { bundles: number; ranges: BlockRange[] }>;
  logs: CheckedLog[];
  /** One sentence a fault; what follows a fault in its log was not taken. */
  faults: string[];
}

/** The name of a range, as files have it. */
export function rangeName({ start, end }: BlockRange): string {
  return `${start}-${end}`;
}

/**
 * Reads manifests line by line. Only entries of `ranges` are kept, so that memory is bounded by the files that are to
 * be checked. Throws USAGE and DOWNLOAD_FAILED; what is wrong in a manifest is among the faults.
 */
export async function readManifests(
  sources: readonly Source[],
  options: {
    keys: ReadonlyMap<string, KeyObject>;
    ranges: ReadonlySet<string>;
    cwd: string;
    signal: AbortSignal;
  },
): Promise<Known> {
  const known: Known = { byRange: new Map(), absent: new Map(), logs: [], faults: [] };
  const verifier = createVerifier(options.keys);
  const broken = new Set<string>();

  const take = (line: string, where: string): void => {
    const entry = parseEntry(line, where);
    const log = `${entry.kind} of ${entry.network}`;
    if (broken.has(log)) return;
    try {
      verifier.push(entry);
    } catch (error) {
      broken.add(log);
      throw error;
    }
    note(known, entry, options.ranges);
  };

  for (const first of sources) {
    for (let source: Source | null = first; source !== null; ) {
      const opened = await openSource(source, options.cwd, options.signal);
      if (opened === null) break;
      const name = nameOf(source);
      try {
        for await (const line of readLines(opened.body, name)) {
          const where = `Line ${line.number} of ${name}`;
          try {
            if (!line.ended) throw cutOff(where);
            take(line.text, where);
          } catch (error) {
            if (!isPackhouseError(error, 'MANIFEST_INVALID')) throw error;
            known.faults.push(error.message);
          }
          if (known.faults.length >= 100) return { ...known, logs: verifier.logs() };
        }
      } catch (error) {
        if (!isPackhouseError(error)) throw unreadable(name, error);
        if (error.code !== 'MANIFEST_INVALID') throw error;
        known.faults.push(error.message);
      }
      source = opened.next === null ? null : { url: opened.next };
    }
  }
  return { ...known, logs: verifier.logs() };
}

function note(known: Known, entry: SealedEntry, ranges: ReadonlySet<string>): void {
  const name = rangeName(entry);
  if (!ranges.has(name)) {
    noteAbsent(known, entry);
    return;
  }
  const entries = known.byRange.get(name);
  if (entries === undefined) known.byRange.set(name, [entry]);
  else entries.push(entry);
}

/** Notes that there is no file for an entry; a later version has the range of the first. */
export function noteAbsent(known: Known, entry: SealedEntry): void {
  if (entry.version > 1) return;
  const log = `${entry.kind} of ${entry.network}`;
  const absent = known.absent.get(log) ?? { bundles: 0, ranges: [] };
  absent.bundles += 1;
  const last = absent.ranges.at(-1);
  if (last !== undefined && last.end + 1 === entry.start) last.end = entry.end;
  else absent.ranges.push({ start: entry.start, end: entry.end });
  known.absent.set(log, absent);
}

function cutOff(where: string): PackhouseError {
  return new PackhouseError({
    code: 'MANIFEST_INVALID',
    message: `${where} is not ended by a line break: the manifest was cut off there.`,
  });
}
