import type { KeyObject } from 'node:crypto';
import path from 'node:path';
import type { BlockRange } from '@packhouse/chain';
import { isPartialCopy, readLines, toLog } from '@packhouse/client';
import { type CheckedLog, createVerifier, parseLogEntry, type SealedEntry } from '@packhouse/manifest';
import { isPackhouseError } from '@packhouse/runtime';
import { checkAgainstHead, type Heads, logName } from './heads.js';
import { openSource, type Source, toName, unreadable } from './source.js';
import { createKnownTables, type KnownTables } from './tables.js';

/** The checked part of the manifests. */
export interface Known {
  /** Entries of the ranges asked for, by range, in the order of the manifest. */
  byRange: Map<string, SealedEntry[]>;
  /** What the logs of tables say. */
  tables: KnownTables;
  /** Ranges without a file, by log, neighbours joined. */
  absent: Map<string, { bundles: number; ranges: BlockRange[] }>;
  logs: CheckedLog[];
  /** All that are checked. */
  entries: number;
  /** Logs of which a pull kept the entries of its ranges only. */
  parts: Set<string>;
  /** Logs with a fault. */
  broken: Set<string>;
  /** One sentence per fault; entries after a fault in the same log are not used. */
  faults: string[];
}

/** A range as it is named in file names. */
export function rangeName({ firstBlock, lastBlock }: BlockRange): string {
  return `${firstBlock}-${lastBlock}`;
}

/**
 * Reads manifests line by line. Only entries of `ranges` are kept, so memory is bounded by the files to check. Throws
 * USAGE and DOWNLOAD_FAILED; faults of a manifest are returned.
 */
export async function readManifests(
  sources: readonly Source[],
  options: {
    keys: ReadonlyMap<string, KeyObject>;
    heads: Heads;
    ranges: ReadonlySet<string>;
    cwd: string;
    signal: AbortSignal;
  },
): Promise<Known> {
  const broken = new Set<string>();
  const parts = new Set<string>();
  const known: Known = {
    byRange: new Map(),
    tables: createKnownTables(),
    absent: new Map(),
    logs: [],
    entries: 0,
    parts,
    broken,
    faults: [],
  };
  const ofWhole = createVerifier(options.keys);
  const ofParts = createVerifier(options.keys, { part: true });
  const logs = (): CheckedLog[] => [...ofWhole.logs(), ...ofParts.logs()];

  const take = (line: string, where: string, isPart: boolean): void => {
    const entry = parseLogEntry(line, where);
    const log = logName(entry);
    if (broken.has(log)) return;
    if (isPart) parts.add(log);
    try {
      (isPart ? ofParts : ofWhole).push(entry);
      checkAgainstHead(entry, options.heads);
    } catch (error) {
      broken.add(log);
      throw error;
    }
    known.entries += 1;
    if ('table' in entry) known.tables.note(entry);
    else note(known, entry, options.ranges);
  };

  for (const first of sources) {
    for (let source: Source | null = first; source !== null; ) {
      const opened = await openSource(source, options.cwd, options.signal);
      if (opened === null) break;
      const name = toName(source);
      const isPart = 'file' in source && (await isPartialCopy(path.resolve(options.cwd, source.file)));
      try {
        let number = 0;
        for await (const line of readLines(opened.body, name)) {
          number += 1;
          try {
            take(line.slice(0, -1), `Line ${number} of ${name}`, isPart);
          } catch (error) {
            if (!isPackhouseError(error, 'MANIFEST_INVALID')) throw error;
            known.faults.push(error.message);
          }
          if (known.faults.length >= 100) return { ...known, logs: logs() };
        }
      } catch (error) {
        if (!isPackhouseError(error)) throw unreadable(name, error);
        if (error.code !== 'MANIFEST_INVALID') throw error;
        known.faults.push(error.message);
      }
      source = opened.next === null ? null : { url: opened.next };
    }
  }
  return { ...known, logs: logs() };
}

function note(known: Known, entry: SealedEntry, ranges: ReadonlySet<string>): void {
  const name = rangeName({ firstBlock: entry.from, lastBlock: entry.to });
  if (!ranges.has(name)) {
    noteAbsent(known, entry);
    return;
  }
  const entries = known.byRange.get(name);
  if (entries === undefined) known.byRange.set(name, [entry]);
  else entries.push(entry);
}

/** Notes that an entry has no file; later versions have the same range. */
export function noteAbsent(known: Known, entry: SealedEntry): void {
  if (entry.version > 1) return;
  const log = toLog(entry);
  const absent = known.absent.get(log) ?? { bundles: 0, ranges: [] };
  absent.bundles += 1;
  const last = absent.ranges.at(-1);
  if (last !== undefined && last.lastBlock + 1 === entry.from) last.lastBlock = entry.to;
  else absent.ranges.push({ firstBlock: entry.from, lastBlock: entry.to });
  known.absent.set(log, absent);
}
