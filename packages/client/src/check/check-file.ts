import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { toQuantity } from '@packhouse/chain';
import { createArrayValidator } from '@packhouse/json';
import type { SealedEntry } from '@packhouse/manifest';

const PIECE = 1_048_576;
/** Bytes that are inflated at a time. */
const INFLATED_PIECE = 262_144;
const NO_JSON = 'does not hold what its entry says';

/** A file to check. */
export interface CheckTask {
  /** Where it is. */
  full: string;
  /** What messages call it. */
  shown: string;
  /** The version that its name says; absent: the newest is expected. */
  version?: number | undefined;
  /** The entries that may describe it, all of one range; at least one. */
  candidates: readonly SealedEntry[];
  /** Whether it is inflated, too. */
  deep: boolean;
}

/** The entry that a file agrees with, or its fault as a sentence. */
export type Verdict = { entry: SealedEntry } | { fault: string };

/** The name of the log of an entry. */
export function toLog({ kind, network }: { kind: string; network: string }): string {
  return `${kind} of ${network}`;
}

/**
 * Checks a file against the entries that may describe it: its SHA-256, version and size, and the length of text that
 * its gzip trailer announces; with `deep` all that is inside.
 */
export async function checkFile(task: CheckTask): Promise<Verdict> {
  const { full, shown, candidates, deep } = task;
  try {
    const digest = await getDigest(full);
    const match = candidates.findLast((entry) => entry.sha256 === digest.sha256);
    if (match === undefined) return { fault: different(shown, candidates, digest) };
    const wrongVersion = versionFault(task, match);
    if (wrongVersion !== null) return { fault: wrongVersion };
    if (digest.bytes !== match.bytes) {
      return { fault: `${shown} has ${digest.bytes} bytes, and its entry says ${match.bytes}.` };
    }
    const inside = deep ? await contentsFault(full, match) : null;
    if (inside !== null) return { fault: `${shown} ${inside}` };
    if (digest.announced !== match.rawBytes % 2 ** 32) {
      return {
        fault: `${shown} announces ${digest.announced} bytes of JSON, and its entry says ${match.rawBytes}.`,
      };
    }
    return { entry: match };
  } catch (error) {
    return { fault: `${shown} cannot be read: ${(error as Error).message}.` };
  }
}

interface Digest {
  sha256: string;
  bytes: number;
  /** The last four bytes: of gzip the length of its text modulo 2^32. */
  announced: number;
}

async function getDigest(full: string): Promise<Digest> {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(PIECE);
  let tail: Buffer = Buffer.alloc(4);
  let bytes = 0;
  const file = await open(full);
  try {
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, PIECE);
      if (bytesRead === 0) break;
      const read = piece.subarray(0, bytesRead);
      hash.update(read);
      bytes += bytesRead;
      tail = Buffer.concat([tail, read.subarray(-4)]).subarray(-4);
    }
  } finally {
    await file.close();
  }
  return { sha256: hash.digest('hex'), bytes, announced: tail.readUInt32LE() };
}

/**
 * What is wrong inside of a file whose bytes were published, as the end of a sentence; null if nothing is. Inflates
 * all of it: gzip and its CRC-32, JSON, the number of records and bytes, and in `blocks` numbers, parents and hashes.
 */
async function contentsFault(full: string, entry: SealedEntry): Promise<string | null> {
  const isBlocks = entry.kind === 'blocks';
  let before = entry.firstParentHash;
  let broken: string | null = null;
  const validator = createArrayValidator(isBlocks ? ['number', 'hash', 'parentHash'] : [], (index, facts) => {
    if (!isBlocks) return true;
    const number = entry.from + index;
    if (facts.number !== toQuantity(number) || facts.parentHash !== before) {
      broken = `record ${index + 1} is not block ${number} with the parent before it`;
      return false;
    }
    before = String(facts.hash);
    return true;
  });
  let text = 0;
  const inflated = pipeline(
    createReadStream(full, { highWaterMark: INFLATED_PIECE }),
    createGunzip({ chunkSize: INFLATED_PIECE }),
    () => undefined,
  );
  try {
    for await (const piece of inflated as AsyncIterable<Buffer>) {
      text += piece.length;
      if (!validator.push(piece))
        return `${NO_JSON}: ${broken ?? `record ${validator.elements + 1} is not JSON`}.`;
    }
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw error;
    return `${NO_JSON}: it cannot be inflated.`;
  }
  if (!validator.finished())
    return `${NO_JSON}: its text ends in the middle of record ${validator.elements + 1}.`;
  const expected = entry.to - entry.from + 1;
  if (validator.elements !== expected) {
    return `holds ${validator.elements} records, expected ${expected} for its range.`;
  }
  text -= validator.spaces;
  if (text !== entry.rawBytes) return `holds ${text} bytes of JSON, and its entry says ${entry.rawBytes}.`;
  if (isBlocks && before !== entry.lastHash) {
    return `${NO_JSON}: its last block has the hash ${before}, expected ${entry.lastHash}.`;
  }
  return null;
}

/** The fault in the version of a file whose bytes were published; null if there is none. */
function versionFault({ shown, version, candidates }: CheckTask, match: SealedEntry): string | null {
  const versions = candidates.filter((each) => each.kind === match.kind && each.network === match.network);
  const newest = versions.reduce((a, b) => (b.version > a.version ? b : a));
  if (version === undefined) {
    if (newest.sha256 === match.sha256) return null;
    return `${shown} is version ${match.version} of its bundle, and version ${newest.version} replaced it: download it again.`;
  }
  const named = versions.find((each) => each.version === version);
  if (named?.sha256 === match.sha256) return null;
  return `${shown} has the name of version ${version} but is version ${match.version}.`;
}

function different(shown: string, candidates: readonly SealedEntry[], { sha256, bytes }: Digest): string {
  const [only, ...others] = candidates;
  if (only === undefined || others.some((each) => each.kind !== only.kind || each.network !== only.network)) {
    const logs = [...new Set(candidates.map((each) => toLog(each)))].join(', ');
    return `${shown} is damaged: its sha256 ${sha256} is that of no published file of this range (${logs}).`;
  }
  const newest = candidates.at(-1) as SealedEntry;
  const what = toLog(newest);
  if (bytes !== newest.bytes) {
    const how = bytes < newest.bytes ? 'cut off' : 'too long';
    return `${shown} is damaged: it is ${how}, with ${bytes} bytes, and ${what} has ${newest.bytes}.`;
  }
  return `${shown} is damaged: its sha256 is ${sha256}, and the manifest has ${newest.sha256} for ${what}.`;
}
