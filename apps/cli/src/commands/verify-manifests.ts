import type { KeyObject } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';
import type { BlockRange } from '@packhouse/chain';
import { logOf } from '@packhouse/client';
import { type CheckedLog, createVerifier, parseEntry, type SealedEntry } from '@packhouse/manifest';
import { isPackhouseError, PackhouseError } from '@packhouse/runtime';
import { checkAgainstHead, type Heads } from './verify-heads.js';
import { nameOf, openSource, type Source, unreadable } from './verify-source.js';

/** The checked part of the manifests. */
export interface Known {
  /** Entries of the ranges asked for, by range, in the order of the manifest. */
  byRange: Map<string, SealedEntry[]>;
  /** Ranges without a file, by log, neighbours joined. */
  absent: Map<string, { bundles: number; ranges: BlockRange[] }>;
  logs: CheckedLog[];
  /** Logs with a fault. */
  broken: Set<string>;
  /** One sentence for each fault; entries after a fault in the same log are not used. */
  faults: string[];
}

/** A range as it is named in file names. */
export function rangeName({ start, end }: BlockRange): string {
  return `${start}-${end}`;
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
  const known: Known = { byRange: new Map(), absent: new Map(), logs: [], broken, faults: [] };
  const verifier = createVerifier(options.keys);

  const take = (line: string, where: string): void => {
    const entry = parseEntry(line, where);
    const log = logOf(entry);
    if (broken.has(log)) return;
    try {
      verifier.push(entry);
      checkAgainstHead(entry, options.heads);
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

/** Notes that an entry has no file; later versions have the same range. */
export function noteAbsent(known: Known, entry: SealedEntry): void {
  if (entry.version > 1) return;
  const log = logOf(entry);
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
    message: `${where} does not end with a line break: the manifest was cut off there.`,
  });
}

interface Line {
  text: string;
  /** From 1. */
  number: number;
  /** Whether it ends with a line break. */
  ended: boolean;
}

/** Characters of a line; an entry has about 1,100. */
const MAX_LINE = 65_536;

/** The lines of a text, one in memory at a time. Throws MANIFEST_INVALID if one is too long. */
async function* readLines(source: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Line> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let number = 0;
  for await (const chunk of source) {
    rest += decoder.write(Buffer.from(chunk));
    let from = 0;
    for (let at = rest.indexOf('\n'); at !== -1; at = rest.indexOf('\n', from)) {
      number += 1;
      yield { text: rest.slice(from, at), number, ended: true };
      from = at + 1;
    }
    rest = rest.slice(from);
    if (rest.length > MAX_LINE) {
      throw new PackhouseError({
        code: 'MANIFEST_INVALID',
        message: `Line ${number + 1} of ${name} has more than ${MAX_LINE} characters: it is not a manifest.`,
      });
    }
  }
  rest += decoder.end();
  if (rest !== '') yield { text: rest, number: number + 1, ended: false };
}
