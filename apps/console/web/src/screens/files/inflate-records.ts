import { createSplitter } from '@packhouse/json';

/** The first records of a bundle, and its inflated size. */
interface Records {
  /** The elements of its array, one a block. */
  first: unknown[];
  /** Bytes of the whole text. */
  rawBytes: number;
}

/** Bytes of text in which records are looked for: a block of traces may have many millions. */
const MAX_SPLIT = 8_000_000;

/**
 * Inflates a bundle, a gzipped JSON array, to its end (which checks its CRC-32), and parses its first records. Throws if
 * it is none.
 */
export async function inflateRecords(file: Blob, most: number): Promise<Records> {
  const reader = file.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  const decoder = new TextDecoder();
  const splitter = createSplitter<Uint8Array>({
    form: 'array',
    join,
    refuse: (message) => new Error(message),
  });
  const found: Uint8Array[] = [];
  let rawBytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (found.length < most && rawBytes < MAX_SPLIT) found.push(...splitter.push(value));
    rawBytes += value.byteLength;
  }
  const first = found.slice(0, most).map((record) => JSON.parse(decoder.decode(record)) as unknown);
  return { first, rawBytes };
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
