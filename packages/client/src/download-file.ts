import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { SealedEntry } from '@packhouse/manifest';
import type { Answer, Http } from './http.js';
import { notWritable, orNotWritable } from './whole-file.js';

/** The bytes that came in place of those wanted. */
export interface Different {
  bytes: number;
  /** Null: it was not read to its end, because it is too long. */
  sha256: string | null;
}

interface FileDownload {
  http: Http;
  url: string;
  /** Where the file gets to, once it is whole. */
  target: string;
  entry: Pick<SealedEntry, 'bytes' | 'sha256'>;
  /** Told of bytes as they come; negative if they are thrown away. */
  onBytes(bytes: number): void;
  signal: AbortSignal;
}

/**
 * Downloads a file to `<target>.part`, hashing as the bytes come, and renames it once they are what the manifest says
 * and on the disk. Returns null, or what came instead, which is left in `.part`. Throws as `Http.get`, DISK_FULL and
 * DATA_DIR_UNUSABLE.
 */
export async function downloadFile(download: FileDownload): Promise<Different | null> {
  const { http, url, target, entry, signal } = download;
  const different = await http.get(url, (answer) => receive(answer, download), { bearer: true, signal });
  if (different.bytes !== entry.bytes || different.sha256 !== entry.sha256) {
    download.onBytes(-different.bytes);
    return different;
  }
  await rename(getPart(target), target).catch(orNotWritable(target));
  return null;
}

/** The name of a file that is not whole yet. */
export function getPart(target: string): string {
  return `${target}.part`;
}

async function receive({ body }: Answer, { target, entry, onBytes }: FileDownload): Promise<Different> {
  const part = getPart(target);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    const file = await open(part, 'w');
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        onBytes(chunk.length);
        if (bytes > entry.bytes) return { bytes, sha256: null };
        hash.update(chunk);
        await file.write(chunk).catch(orNotWritable(part));
      }
      await file.sync();
      return { bytes, sha256: hash.digest('hex') };
    } finally {
      await file.close();
    }
  } catch (error) {
    onBytes(-bytes);
    await rm(part, { force: true });
    // A folder that cannot be written is not the gateway's fault.
    throw (error as NodeJS.ErrnoException).path === part ? notWritable(part, error) : error;
  }
}

/** The SHA-256 of a file on the disk, hex. */
export async function hashOfFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { highWaterMark: 1_048_576 }))
    hash.update(chunk as Buffer);
  return hash.digest('hex');
}
