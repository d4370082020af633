import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { Kind } from '@packhouse/chain';
import type { SealedEntry } from '@packhouse/manifest';
import { notWritable, orNotWritable, PackhouseError } from '@packhouse/runtime';
import type { GatewayAddress } from './gateway-address.js';
import type { Answer, Gateway, Http } from './http.js';

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

const MAX_POINTER_BYTES = 65_536;
/** What is behind the base of all links; those of new blocks name the block by its hash. */
export const LINK_END = /\/[a-z]+\/\d+-\d+\.json\.gz(?:\?hash=0x[0-9a-f]{64})?$/;

/** Asks where the file of a block is. Throws DOWNLOAD_FAILED, and as `Http.get`. */
export async function askForLink(
  { address, http }: Gateway,
  kind: Kind,
  block: number,
  signal: AbortSignal,
): Promise<string> {
  const text = await http.text(address.api(`${kind}/${block}`), MAX_POINTER_BYTES, { signal });
  return checkLink(address, linkIn(text), `where block ${block} of ${kind} is`);
}

/** Throws DOWNLOAD_FAILED unless this is the link of a file. The key goes there: never without TLS if the gateway itself is asked with it. */
export function checkLink(address: GatewayAddress, link: string | undefined, what: string): string {
  const isSafe = link?.startsWith('https://') === true || !address.base.startsWith('https://');
  if (link !== undefined && LINK_END.test(link) && isSafe) return link;
  throw new PackhouseError({
    code: 'DOWNLOAD_FAILED',
    message: `The gateway's answer to ${what} holds no usable link.`,
    hint: 'Check the address.',
    retryable: false,
  });
}

function linkIn(text: string): string | undefined {
  try {
    const link = (JSON.parse(text) as { download_link?: unknown }).download_link;
    return typeof link === 'string' && URL.canParse(link) ? link : undefined;
  } catch {
    return undefined;
  }
}
