import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { toQuantity } from '@packhouse/chain';
import { createArrayValidator } from '@packhouse/json';
import type { SealedEntry } from '@packhouse/manifest';

/** Bytes that are inflated at a time. */
const PIECE = 262_144;
const NO_JSON = 'does not hold what its entry says';

/**
 * What is wrong inside of a file whose bytes were published, as the end of a sentence; null if nothing is. Inflates
 * all of it: gzip and its CRC-32, JSON, the number of records and bytes, and in `blocks` numbers, parents and hashes.
 */
export async function contentsFault(full: string, entry: SealedEntry): Promise<string | null> {
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
    createReadStream(full, { highWaterMark: PIECE }),
    createGunzip({ chunkSize: PIECE }),
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
