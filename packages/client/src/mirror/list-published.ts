import type { BlockRange, Kind } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import type { Gateway } from '../fetch/http.js';
import { type BundleRows, createBundleRows } from '../manifest/bundle-rows.js';

/** Files of one request. */
const PAGE = 10_000;
const MAX_PAGE_BYTES = 16_777_216;

/** Published bundles as the gateway lists them; nothing of it is signed. */
interface FileList {
  rows: BundleRows;
  /** The last block of the plan of the key, if the list ends there. */
  limitedTo: number | null;
}

/** Lists the published bundles that have a block of a range, all without bounds. Throws as `Http.get`. */
export async function listFiles(
  { address, http }: Gateway,
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
  for (let cursor: string | null = ''; cursor !== null; ) {
    const url = address.api(`files?kind=${asked.kind}${bounds}&limit=${PAGE}${cursor}`);
    const page = readPage(await http.text(url, MAX_PAGE_BYTES, { signal }), last);
    last = page.files.at(-1)?.to ?? last;
    for (const { from, to, bytes, version } of page.files) {
      rows.add({ sequence: -1, firstBlock: from, lastBlock: to, bytes, version, offset: 0, length: 0 });
    }
    limitedTo = page.limited?.maxBlock ?? null;
    cursor = page.next === null ? null : `&cursor=${encodeURIComponent(page.next)}`;
  }
  return { rows, limitedTo };
}

interface Page {
  files: { from: number; to: number; bytes: number; version: number }[];
  next: string | null;
  limited?: { maxBlock: number };
}

/** Reads a page whose files are above the block `last` and ascend; a page of nothing new would have no end. */
function readPage(text: string, last: number): Page {
  try {
    const page = JSON.parse(text) as Page;
    const whole = page.files.every((file) => [file.from, file.to, file.bytes].every(Number.isSafeInteger));
    const ascending = page.files.every(
      ({ from, to }, at) => from > (page.files[at - 1]?.to ?? last) && to >= from,
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

/** Blocks that are not published, and why. */
export interface Hole {
  from: number;
  to: number;
  /** One of the reasons of `docs/downloads.md`. */
  reason: string;
  /** What has to happen, as a clause about the hole; empty: unknown. */
  needs: string;
}

/** Holes asked for at once. */
const HOLES = 100;
const MAX_COVERAGE_BYTES = 8_388_608;

/**
 * The first holes of a range, with their reasons. Throws PLAN_LIMIT (`data.maxBlock`) if the plan of the key ends
 * within the range, and as `Http.text`.
 */
export async function holesWithReasons(
  { address, http }: Gateway,
  kind: Kind,
  { firstBlock, lastBlock }: BlockRange,
  signal?: AbortSignal,
): Promise<Hole[]> {
  const url = address.api(`coverage?kind=${kind}&from=${firstBlock}&to=${lastBlock}&limit=${HOLES}`);
  const text = await http.text(url, MAX_COVERAGE_BYTES, { signal });
  try {
    const page = JSON.parse(text) as {
      kinds: { kind: string; holes: { range: string; reason: string; needs?: string }[] }[];
    };
    const holes = page.kinds.find((each) => each.kind === kind)?.holes ?? [];
    return holes.map(({ range, reason, needs }) => {
      const [from, to] = range.split('-').map(Number);
      if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to)) throw new RangeError(range);
      return {
        from: from as number,
        to: to as number,
        reason: String(reason),
        needs: String(needs ?? ''),
      };
    });
  } catch (cause) {
    throw new PackhouseError({
      code: 'DOWNLOAD_FAILED',
      message: `The gateway's answer about what is published in ${firstBlock}-${lastBlock} cannot be read.`,
      hint: 'Check the address.',
      cause,
      retryable: false,
    });
  }
}

/** The error of a kind without a file. */
export function nothingPublished({ address }: Gateway, kind: Kind): PackhouseError {
  return new PackhouseError({
    code: 'RANGE_INCOMPLETE',
    message: `Nothing of ${kind} is published at ${address.base}.`,
    hint: 'Check the network in the address and the kind.',
  });
}
