import { address, BLOCK_TAGS, blockParameter, type Check, hash, kindOf } from './check-params.js';

/** The filter object of eth_getLogs and eth_newFilter, checked. */
export interface LogFilter {
  fromBlock?: string;
  toBlock?: string;
  blockHash?: string;
  /** Any of them; absent: all. */
  address?: readonly string[];
  /** By position: null matches anything, a list any of it. A log has at least as many topics (geth, eth/filters). */
  topics?: readonly (readonly string[] | null)[];
}

/** Most addresses, and most alternatives of a topic, as in geth (eth/filters maxSubTopics; --rpc.getlogmaxaddrs). */
const MAX_LIST = 1_000;
const MAX_TOPICS = 4;

/** Checks the filter object of eth_getLogs and eth_newFilter. */
export const logFilter: Check = (value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return `expected a filter object, got ${kindOf(value)}`;
  }
  const filter = value as Record<string, unknown>;
  const given = (name: string): boolean => filter[name] !== undefined && filter[name] !== null;
  if (given('blockHash')) {
    if (given('fromBlock') || given('toBlock')) {
      return 'cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other';
    }
    const wrong = hash(filter.blockHash);
    if (wrong !== null) return `blockHash: ${wrong}`;
  }
  for (const name of ['fromBlock', 'toBlock']) {
    const wrong = given(name) ? blockParameter(filter[name]) : null;
    if (wrong !== null) return `${name}: ${wrong}`;
  }
  return (
    (given('address') ? wrongAddress(filter.address) : null) ??
    (given('topics') ? wrongTopics(filter.topics) : null)
  );
};

function wrongAddress(value: unknown): string | null {
  const list = Array.isArray(value) ? value : [value];
  if (list.length > MAX_LIST) return `address: ${list.length} addresses, at most ${MAX_LIST}`;
  for (const [at, one] of list.entries()) {
    const wrong = address(one);
    if (wrong !== null) return `invalid address at index ${at}: ${wrong}`;
  }
  return null;
}

function wrongTopics(value: unknown): string | null {
  if (!Array.isArray(value)) return `topics: expected an array, got ${kindOf(value)}`;
  if (value.length > MAX_TOPICS) return `topics: ${value.length} topics, at most ${MAX_TOPICS}`;
  for (const [at, topic] of value.entries()) {
    const list: unknown[] = Array.isArray(topic) ? topic : [topic];
    if (list.length > MAX_LIST)
      return `topics: ${list.length} alternatives at index ${at}, at most ${MAX_LIST}`;
    for (const one of list) {
      const wrong = one === null ? null : hash(one);
      if (wrong !== null) return `invalid topic at index ${at}: ${wrong}`;
    }
  }
  return null;
}

/** A checked filter object in its canonical form: lower case, lists, without fields that match everything. */
export function readLogFilter(value: unknown): LogFilter {
  const { fromBlock, toBlock, blockHash, address: from, topics } = value as Record<string, unknown>;
  const list = from === undefined || from === null ? [] : ([from].flat() as string[]);
  const places = ((topics ?? []) as (string | null | (string | null)[])[]).map((topic) => {
    const any = [topic].flat();
    // An empty list and a null among the alternatives match anything, as in geth.
    return any.length === 0 || any.includes(null)
      ? null
      : (any as string[]).map((each) => each.toLowerCase());
  });
  return {
    ...(typeof fromBlock === 'string' ? { fromBlock: blockText(fromBlock) } : {}),
    ...(typeof toBlock === 'string' ? { toBlock: blockText(toBlock) } : {}),
    ...(typeof blockHash === 'string' ? { blockHash: blockHash.toLowerCase() } : {}),
    ...(list.length === 0 ? {} : { address: list.map((each) => each.toLowerCase()) }),
    ...(places.length === 0 ? {} : { topics: places }),
  };
}

function blockText(value: string): string {
  return BLOCK_TAGS.includes(value) ? value : value.toLowerCase();
}
