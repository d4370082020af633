import type { BigIntStats } from 'node:fs';
import { readFile } from 'node:fs/promises';

/*
 * What an object's file cannot say of itself is kept in `.meta/<key>.json`: a list of facts, each marked with the
 * size and the time of the file it is about. It is written before the object takes its name, and keeps the facts of
 * the file that was there: whichever of the two files a crash leaves under the name, its facts are in the list.
 */

/** Facts of one version of an object. */
export interface DiskFacts {
  size: number;
  /** Modification time of the file in nanoseconds, decimal. */
  mtimeNs: string;
  sha256: string;
  contentType: string;
  metadata: Record<string, string>;
}

/** How many versions a list keeps: the new one and those that writers at the same moment may be about to replace. */
const VERSIONS = 4;

function isFacts(value: unknown): value is DiskFacts {
  const { size, mtimeNs, sha256, contentType, metadata } = value as Record<string, unknown>;
  return (
    typeof size === 'number' &&
    typeof mtimeNs === 'string' &&
    typeof sha256 === 'string' &&
    typeof contentType === 'string' &&
    typeof metadata === 'object' &&
    metadata !== null
  );
}

/** The list in this file, newest first; empty where there is none or it cannot be read. */
export async function readFacts(path: string): Promise<DiskFacts[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list)
      ? list.filter((item) => typeof item === 'object' && item !== null && isFacts(item))
      : [];
  } catch {
    return [];
  }
}

/** The list with newer facts in front. */
export function withFacts(list: readonly DiskFacts[], newer: DiskFacts): DiskFacts[] {
  return [newer, ...list].slice(0, VERSIONS);
}

/** The facts in the list that are about the file with this size and time, if there are any. */
export function factsOf(list: readonly DiskFacts[], stats: BigIntStats): DiskFacts | undefined {
  return list.find(({ size, mtimeNs }) => BigInt(size) === stats.size && mtimeNs === String(stats.mtimeNs));
}
