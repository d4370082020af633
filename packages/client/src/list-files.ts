import type { Kind } from '@packhouse/chain';
import { isPackhouseError, PackhouseError } from '@packhouse/runtime';
import { type BundleRows, createBundleRows } from './bundle-rows.js';
import type { GatewayAddress } from './gateway-address.js';
import type { Http } from './http.js';
import { readLines } from './read-lines.js';

/** Files, and entries, of one request. */
const PAGE = 10_000;
const MAX_PAGE_BYTES = 16_777_216;

/** Published bundles as the gateway lists them; nothing of it is signed. */
interface FileList {
  rows: BundleRows;
  /** The last block of the plan of the key, if the list ends there. */
  limitedTo: number | null;
}

interface Listing {
  address: GatewayAddress;
  http: Http;
}

/**
 * Lists the published bundles that have a block of a range, all without bounds. A gateway without `bundle-api/files`
 * is asked for its manifest. Throws as `Http.get`.
 */
export async function listFiles(
  { address, http }: Listing,
  asked: { kind: Kind; from?: number | undefined; to?: number | undefined },
  signal?: AbortSignal,
): Promise<FileList> {
  const rows = createBundleRows();
  const bounds = [
    asked.from === undefined ? '' : `&from=${asked.from}`,
    asked.to === undefined ? '' : `&to=${asked.to}`,
  ].join('');
  let limitedTo: number | null = null;
  let last = -1;
  try {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const url = address.api(`files?kind=${asked.kind}${bounds}&limit=${PAGE}${cursor}`);
      const page = readPage(await http.text(url, MAX_PAGE_BYTES, { signal }), last);
      last = page.files.at(-1)?.end ?? last;
      for (const { start, end, bytes, version } of page.files) {
        rows.add({ start, end, bytes, version, offset: 0, length: 0 });
      }
      limitedTo = page.limited?.maxBlock ?? null;
      cursor = page.next === null ? null : `&cursor=${encodeURIComponent(page.next)}`;
    }
  } catch (error) {
    const old = isPackhouseError(error, 'DOWNLOAD_FAILED') && error.data.status === 404;
    if (!old || rows.count > 0) throw error;
    await listManifest({ address, http }, asked.kind, rows, signal);
  }
  return { rows, limitedTo };
}

interface Page {
  files: { start: number; end: number; bytes: number; version: number }[];
  next: string | null;
  limited?: { maxBlock: number };
}

/** Reads a page whose files are above the block `last` and ascend; a page of nothing new would have no end. */
function readPage(text: string, last: number): Page {
  try {
    const page = JSON.parse(text) as Page;
    const whole = page.files.every((file) => [file.start, file.end, file.bytes].every(Number.isSafeInteger));
    const ascending = page.files.every(
      ({ start, end }, at) => start > (page.files[at - 1]?.end ?? last) && end >= start,
    );
    const goesOn = typeof page.next === 'string' && page.files.length > 0;
    if (whole && ascending && (page.next === null || goesOn)) return page;
  } catch {
    // Said below.
  }
  throw new PackhouseError({
    code: 'DOWNLOAD_FAILED',
    message: "The gateway's list of files cannot be read.",
    hint: 'Check the address.',
    retryable: false,
  });
}

async function listManifest(
  { address, http }: Listing,
  kind: Kind,
  rows: BundleRows,
  signal?: AbortSignal,
): Promise<void> {
  for (let count = PAGE; count === PAGE; ) {
    const url = address.api(`manifest?kind=${kind}&limit=${PAGE}&after=${rows.count - 1}`);
    const entries = await http.get(
      url,
      async ({ body }) => {
        const read: Page['files'] = [];
        for await (const line of readLines(body, `the manifest of ${kind}`)) {
          const { start, end, bytes, version } = JSON.parse(line) as Page['files'][number];
          read.push({ start, end, bytes, version });
        }
        return read;
      },
      { signal },
    );
    for (const entry of entries) rows.add({ ...entry, offset: 0, length: 0 });
    count = entries.length;
  }
}
