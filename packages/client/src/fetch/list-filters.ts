import { type BundleFilter, filterBytes, readFilter } from '@packhouse/bundle';
import type { BlockRange, Kind } from '@packhouse/chain';
import { isPackhouseError, PackhouseError } from '@packhouse/runtime';
import { type Answer, type Gateway, readBody } from './http.js';

/** Files, and so filters, of one request. */
const PAGE = 1_000;
const MAX_PAGE_BYTES = 67_108_864;
/** First and last block (8 bytes each, big-endian), SHA-256 of the file, length of the filter (4). */
const HEAD_BYTES = 52;

/** The filter of one file, as the gateway hands it out. */
export interface FileFilter extends BlockRange {
  /** Of the file that it was made of, hex. */
  sha256: string;
  /** The object of the filter; null: the file has none. */
  object: Buffer | null;
  /** Bytes that this filter took to load. */
  bytes: number;
}

/**
 * The filters of the published files of a range, ascending, a page in memory at a time; none from a gateway that has
 * no filters. Nothing of it is checked but its form. Throws as `Http.get`.
 */
export async function* listFilters(
  { address, http }: Gateway,
  { kind, firstBlock, lastBlock }: BlockRange & { kind: Kind },
  signal?: AbortSignal,
): AsyncGenerator<FileFilter> {
  let last = -1;
  for (let cursor: string | null = ''; cursor !== null; ) {
    const url = address.api(`filters?kind=${kind}&from=${firstBlock}&to=${lastBlock}&limit=${PAGE}${cursor}`);
    const read = async ({ headers, body }: Answer): Promise<Page> => {
      const bytes = await readBody(body, MAX_PAGE_BYTES, unreadable);
      return readPage(bytes, headers['packhouse-filters-next'], last);
    };
    const page = await http.get(url, read, { signal }).catch((error: unknown) => {
      if (isPackhouseError(error, 'DOWNLOAD_FAILED') && error.data.status === 404) return null;
      throw error;
    });
    if (page === null) return;
    last = page.filters.at(-1)?.lastBlock ?? last;
    yield* page.filters;
    cursor = page.next === null ? null : `&cursor=${page.next}`;
  }
}

/** Reads a page whose files are above the block `last` and ascend; a page of nothing new would have no end. */
function readPage(bytes: Buffer, next: string | string[] | undefined, last: number): Page {
  const filters: FileFilter[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (bytes.length - at < HEAD_BYTES) throw unreadable();
    const [firstBlock, lastBlock] = [
      Number(bytes.readBigUInt64BE(at)),
      Number(bytes.readBigUInt64BE(at + 8)),
    ];
    const sha256 = bytes.toString('hex', at + 16, at + 48);
    const length = bytes.readUInt32BE(at + 48);
    const whole = HEAD_BYTES + length;
    const ascending =
      firstBlock > (filters.at(-1)?.lastBlock ?? last) &&
      lastBlock >= firstBlock &&
      Number.isSafeInteger(lastBlock);
    if (!ascending || at + whole > bytes.length) throw unreadable();
    const object = length === 0 ? null : bytes.subarray(at + HEAD_BYTES, at + whole);
    filters.push({ firstBlock, lastBlock, sha256, object, bytes: whole });
    at += whole;
  }
  if (next === undefined) return { filters, next: null };
  if (typeof next !== 'string' || !/^\d{1,16}$/.test(next) || filters.length === 0) throw unreadable();
  return { filters, next };
}

interface Page {
  filters: FileFilter[];
  next: string | null;
}

/** The filter of these blocks that an object has; null if its bytes are none. No signature is checked. */
export function parseFilter(object: Uint8Array, { firstBlock, lastBlock }: BlockRange): BundleFilter | null {
  try {
    const filter = readFilter(object.subarray(0, filterBytes(object)), firstBlock);
    return filter.parts.at(-1)?.lastBlock === lastBlock ? filter : null;
  } catch (error) {
    if (isPackhouseError(error, 'BUNDLE_INVALID')) return null;
    throw error;
  }
}

function unreadable(): PackhouseError {
  return new PackhouseError({
    code: 'DOWNLOAD_FAILED',
    message: "The gateway's page of filters cannot be read.",
    hint: 'Check the address; without an address or topics the files are pulled whole.',
    retryable: false,
  });
}
