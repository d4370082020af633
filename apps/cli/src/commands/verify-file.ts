import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { streamRecords } from '@packhouse/bundle';
import type { SealedEntry } from '@packhouse/manifest';
import { isPackhouseError } from '@packhouse/runtime';
import { logOf } from './verify-heads.js';
import type { BundleFile } from './verify-inputs.js';

/** Longer records are not parsed (JavaScript has no longer strings); their brackets are still counted. */
const MAX_PARSED = 2 ** 28;

/** The entry that a file agrees with, or its fault as a sentence. */
export type Verdict = { entry: SealedEntry } | { fault: string };

/**
 * Checks a file against the entries that may describe it (all of one range). It is read twice, in pieces: first size
 * and SHA-256, then gzip, JSON, the number of records and, in `blocks`, numbers and hashes.
 */
export async function checkFile(
  file: BundleFile,
  candidates: readonly SealedEntry[],
  cwd: string,
): Promise<Verdict> {
  const full = path.resolve(cwd, file.path);
  try {
    const { sha256, bytes } = await digest(full);
    const match = candidates.findLast((entry) => entry.sha256 === sha256);
    if (match === undefined) return { fault: different(file, candidates, { sha256, bytes }) };
    const wrongVersion = versionFault(file, match, candidates);
    if (wrongVersion !== null) return { fault: wrongVersion };
    if (bytes !== match.bytes)
      return { fault: `${file.path} has ${bytes} bytes, and its entry says ${match.bytes}.` };
    const inside = await checkRecords(full, match);
    return inside === null ? { entry: match } : { fault: `${file.path} ${inside}` };
  } catch (error) {
    if (isPackhouseError(error)) throw error;
    return { fault: `${file.path} cannot be read: ${(error as Error).message}.` };
  }
}

/** The fault in the version of a file whose bytes were published; null if there is none. */
function versionFault(
  file: BundleFile,
  match: SealedEntry,
  candidates: readonly SealedEntry[],
): string | null {
  const versions = candidates.filter((each) => each.kind === match.kind && each.network === match.network);
  const newest = versions.reduce((a, b) => (b.version > a.version ? b : a));
  if (file.version === undefined) {
    if (newest.sha256 === match.sha256) return null;
    return `${file.path} is version ${match.version} of its bundle, and version ${newest.version} replaced it: download it again.`;
  }
  const named = versions.find((each) => each.version === file.version);
  if (named?.sha256 === match.sha256) return null;
  return `${file.path} has the name of version ${file.version} but is version ${match.version}.`;
}

async function digest(full: string): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(full, { highWaterMark: 1_048_576 })) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return { sha256: hash.digest('hex'), bytes };
}

function different(
  { path: shown }: BundleFile,
  candidates: readonly SealedEntry[],
  { sha256, bytes }: { sha256: string; bytes: number },
): string {
  const [only, ...others] = candidates;
  if (only === undefined || others.some((each) => each.kind !== only.kind || each.network !== only.network)) {
    const logs = [...new Set(candidates.map((each) => logOf(each)))].join(', ');
    return `${shown} is damaged: its sha256 ${sha256} is that of no published file of this range (${logs}).`;
  }
  const newest = candidates.at(-1) as SealedEntry;
  const what = logOf(newest);
  if (bytes !== newest.bytes) {
    const how = bytes < newest.bytes ? 'cut off' : 'too long';
    return `${shown} is damaged: it is ${how}, with ${bytes} bytes, and ${what} has ${newest.bytes}.`;
  }
  return `${shown} is damaged: its sha256 is ${sha256}, and the manifest has ${newest.sha256} for ${what}.`;
}

/** The fault inside of a file whose bytes were published; null if there is none. */
async function checkRecords(full: string, entry: SealedEntry): Promise<string | null> {
  const expected = entry.end - entry.start + 1;
  let count = 0;
  let text = 1;
  let before = entry.firstParentHash;
  try {
    for await (const record of streamRecords(createReadStream(full))) {
      const number = entry.start + count;
      count += 1;
      text += record.length + 1;
      if (record.length > MAX_PARSED) continue;
      const value: unknown = JSON.parse(record.toString());
      if (entry.kind !== 'blocks') continue;
      const block = value as { number?: unknown; hash?: unknown; parentHash?: unknown };
      if (block.number !== `0x${number.toString(16)}` || block.parentHash !== before) {
        return `does not hold what its entry says: record ${count} is not block ${number} with the parent before it.`;
      }
      before = String(block.hash);
    }
  } catch (error) {
    const why = isPackhouseError(error) ? error.message : `record ${count} is not JSON.`;
    return `does not hold what its entry says: ${why}`;
  }
  if (count !== expected) return `holds ${count} records, expected ${expected} for its range.`;
  if (text !== entry.rawBytes) return `holds ${text} bytes of JSON, and its entry says ${entry.rawBytes}.`;
  if (entry.kind === 'blocks' && before !== entry.lastHash) {
    return `does not hold what its entry says: its last block has the hash ${before}, expected ${entry.lastHash}.`;
  }
  return null;
}
