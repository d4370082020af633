import { toQuantity } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import type { Gateway } from './http.js';
import type { BlockAt } from './range.js';

/** A header is a few hundred bytes; some networks add long fields. */
const MAX_HEADER_BYTES = 8_388_608;

interface Header {
  number: number;
  timestampMs: number;
}

/**
 * Finds blocks by their dates over JSON-RPC, by bisection: about as many requests as the head has binary digits.
 * `known` maps moments (ISO 8601) to blocks that were found before, and gets those found now. Times of blocks never go
 * back (`timestamp` is above, or in some networks not below, the parent's).
 */
export function blockDates(
  { address, http }: Gateway,
  known: Record<string, number>,
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
  return async (atMs) => {
    const name = new Date(atMs).toISOString();
    const before = known[name];
    if (before !== undefined) return before;
    const head = await header('latest');
    if (head.timestampMs < atMs) {
      throw new PackhouseError({
        code: 'RANGE_BEYOND_HEAD',
        message: `There is no block at or after ${name}: block ${head.number}, the newest, is of ${new Date(head.timestampMs).toISOString()}.`,
        hint: 'Give an earlier date, or a block.',
      });
    }
    let low = 0;
    let high = head.number;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((await header(toQuantity(middle))).timestampMs >= atMs) high = middle;
      else low = middle + 1;
    }
    known[name] = low;
    return low;
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
    hint: 'Give blocks in place of dates.',
    retryable: false,
  });
}
