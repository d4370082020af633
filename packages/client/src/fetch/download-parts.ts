import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { spliceMember } from '@packhouse/bundle';
import type { BlockRange } from '@packhouse/chain';
import { type ByteRange, type FilePart, toRanges } from './file-parts.js';
import type { Answer, Http } from './http.js';

/** Blocks of a file that follow each other, as a bundle of their own. */
export interface PartBundle {
  range: BlockRange;
  bytes: Buffer;
}

interface PartsDownload {
  http: Http;
  url: string;
  /** Ascending, at least one. */
  parts: readonly FilePart[];
  /** Told of bytes as they come; negative if they are thrown away. */
  onBytes(bytes: number): void;
  signal: AbortSignal;
}

/**
 * Downloads parts of a file, and checks the SHA-256 of each; from a server that ignores Range, of the whole file that it
 * sends. Returns a bundle for each run of parts, or the first part of which something else came. Throws as `Http.get`.
 */
export async function downloadParts(download: PartsDownload): Promise<PartBundle[] | { differs: FilePart }> {
  const { http, url, parts, onBytes, signal } = download;
  const wanted = toRanges(parts).map((range) => ({
    ...range,
    bytes: Buffer.alloc(range.end - range.start + 1),
  }));
  for (let got = 0; got < wanted.length; ) {
    const range = wanted[got] as Wanted;
    const rest = wanted.slice(got);
    got += await http.get(url, (answer) => receive(answer, rest, onBytes), { bearer: true, range, signal });
  }
  const runs: { parts: FilePart[]; bodies: Buffer[] }[] = [];
  let at = 0;
  for (const part of parts) {
    while ((wanted[at] as Wanted).end < part.start) at += 1;
    const { start, bytes } = wanted[at] as Wanted;
    const body = bytes.subarray(part.start - start, part.start - start + part.byteLength);
    if (!hash('sha256', body, 'buffer').equals(part.sha256)) return { differs: part };
    if (runs.at(-1)?.parts.at(-1)?.lastBlock !== part.firstBlock - 1) runs.push({ parts: [], bodies: [] });
    runs.at(-1)?.parts.push(part);
    runs.at(-1)?.bodies.push(body);
  }
  return runs.map(({ parts: own, bodies }) => {
    const range = { firstBlock: own[0]?.firstBlock as number, lastBlock: own.at(-1)?.lastBlock as number };
    return { range, bytes: Buffer.concat(spliceMember(own, bodies).chunks) };
  });
}

interface Wanted extends ByteRange {
  bytes: Buffer;
}

/** Copies the bytes of the first range, or of all from a whole file, to their places; returns of how many ranges. */
async function receive(
  { start, body }: Answer,
  wanted: readonly Wanted[],
  onBytes: (bytes: number) => void,
): Promise<number> {
  const ranges = start === null ? wanted : wanted.slice(0, 1);
  const end = ranges.at(-1)?.end as number;
  let [position, copied] = [start ?? 0, 0];
  try {
    for await (const chunk of body as Readable & AsyncIterable<Buffer>) {
      for (const range of ranges) {
        const from = Math.max(range.start, position);
        const to = Math.min(range.end + 1, position + chunk.length);
        if (from >= to) continue;
        chunk.copy(range.bytes, from - range.start, from - position, to - position);
        copied += to - from;
        onBytes(to - from);
      }
      position += chunk.length;
      // The rest of a whole file is not needed.
      if (position > end) break;
    }
    return ranges.length;
  } catch (error) {
    onBytes(-copied);
    throw error;
  }
}
