import { readTimes } from '@packhouse/bundle';
import { type BlockRange, type Kind, toQuantity } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import type { Gateway } from '../fetch/http.js';
import { listFilters, parseFilter } from '../fetch/list-filters.js';
import type { BlockAt } from './range.js';

/** A header is a few hundred bytes; some networks add long fields. */
const MAX_HEADER_BYTES = 8_388_608;

interface Header {
  number: number;
  timestampMs: number;
}

/** Blocks whose dates are asked for. */
interface Dated {
  kind: Kind;
  /** From the first published block to the last. */
  published: BlockRange;
  /** Maps moments (ISO 8601) to blocks that were found before, and gets those found now. */
  known: Record<string, number>;
}

/**
 * Finds blocks by their dates, by bisection: published ones by the times in their filters, others by headers over
 * JSON-RPC, for which a node has to have them. Times of blocks never go back (`timestamp` is above, or in some networks
 * not below, the parent's).
 */
export function blockDates(
  { address, http }: Gateway,
  { kind, published, known }: Dated,
  signal?: AbortSignal,
): BlockAt {
  const header = async (tag: string): Promise<Header> => {
    const post = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_getBlockByNumber',
      params: [tag, false],
    });
    return readHeader(await http.text(address.rpc, MAX_HEADER_BYTES, { post, signal }), tag);
  };
  /** The times of one file, which most of the last steps are in. */
  let times: { firstBlock: number; seconds: readonly number[] } | null = null;
  const ofFilter = async (block: number): Promise<number | undefined> => {
    if (block < published.firstBlock || block > published.lastBlock) return undefined;
    const own = times?.seconds[block - times.firstBlock];
    if (own !== undefined) return own * 1_000;
    const asked = { kind, firstBlock: block, lastBlock: block };
    for await (const { object, ...range } of listFilters({ address, http }, asked, signal)) {
      const filter = object === null ? null : parseFilter(object, range);
      const seconds = filter && readTimes(filter.times, range.lastBlock - range.firstBlock + 1);
      if (seconds !== null) times = { firstBlock: range.firstBlock, seconds };
      break;
    }
    const found = times?.seconds[block - times.firstBlock];
    return found === undefined ? undefined : found * 1_000;
  };
  const timeOf = async (block: number): Promise<number> =>
    (await ofFilter(block)) ?? (await header(toQuantity(block))).timestampMs;

  /** The first block of low..high that is not before a moment; `high` is not. */
  const bisect = async (from: number, to: number, atMs: number): Promise<number> => {
    let [low, high] = [from, to];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((await timeOf(middle)) >= atMs) high = middle;
      else low = middle + 1;
    }
    return low;
  };

  const find = async (atMs: number, name: string): Promise<number> => {
    const { firstBlock, lastBlock } = published;
    if ((await timeOf(firstBlock)) >= atMs) return bisect(0, firstBlock, atMs);
    if ((await timeOf(lastBlock)) >= atMs) return bisect(firstBlock + 1, lastBlock, atMs);
    const head = await header('latest');
    if (head.timestampMs >= atMs) return bisect(lastBlock + 1, head.number, atMs);
    throw new PackhouseError({
      code: 'RANGE_BEYOND_HEAD',
      message: `There is no block at or after ${name}: block ${head.number}, the newest, is of ${new Date(head.timestampMs).toISOString()}.`,
      hint: 'Give an earlier date, or a block.',
    });
  };

  return async (atMs) => {
    const name = new Date(atMs).toISOString();
    known[name] ??= await find(atMs, name);
    return known[name];
  };
}

function readHeader(text: string, tag: string): Header {
  let why = 'its answer is not that of eth_getBlockByNumber';
  try {
    const { result, error } = JSON.parse(text) as {
      result?: { number?: string; timestamp?: string };
      error?: { message?: string };
    };
    const number = Number(result?.number);
    const seconds = Number(result?.timestamp);
    if (Number.isSafeInteger(number) && Number.isSafeInteger(seconds)) {
      return { number, timestampMs: seconds * 1_000 };
    }
    if (error?.message !== undefined) why = error.message.slice(0, 200);
  } catch {
    // Said below.
  }
  throw new PackhouseError({
    code: 'DOWNLOAD_FAILED',
    message: `The gateway does not tell the date of block ${tag}: ${why}.`,
    hint: 'No node has it. Give a block, or a date within the published blocks.',
    retryable: false,
  });
}
