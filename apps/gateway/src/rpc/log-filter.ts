import {
  address,
  BLOCK_TAGS,
  blockParameter,
  type Check,
  checkEach,
  describeType,
  hash,
  isAbsent,
  isObject,
} from './check-params.js';

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
export const MAX_LIST = 1_000;
export const MAX_TOPICS = 4;

/** Checks the filter object of eth_getLogs and eth_newFilter. */
export const logFilter: Check = (value) => {
  if (!isObject(value)) return `expected a filter object, got ${describeType(value)}`;
  const given = (name: string): boolean => !isAbsent(value[name]);
  if (given('blockHash')) {
    if (given('fromBlock') || given('toBlock')) {
      return 'cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other';
    }
    const wrong = hash(value.blockHash);
    if (wrong !== null) return `blockHash: ${wrong}`;
  }
  for (const name of ['fromBlock', 'toBlock']) {
    const wrong = given(name) ? blockParameter(value[name]) : null;
    if (wrong !== null) return `${name}: ${wrong}`;
  }
  return (
    (given('address') ? wrongAddress(value.address) : null) ??
    (given('topics') ? wrongTopics(value.topics) : null)
  );
};

function wrongAddress(value: unknown): string | null {
  const list = Array.isArray(value) ? value : [value];
  if (list.length > MAX_LIST) return `address: ${list.length} addresses, at most ${MAX_LIST}`;
  return checkEach(list, address, 'address');
}

function wrongTopics(value: unknown): string | null {
  if (!Array.isArray(value)) return `topics: expected an array, got ${describeType(value)}`;
  if (value.length > MAX_TOPICS) return `topics: ${value.length} topics, at most ${MAX_TOPICS}`;
  const many = value.findIndex((topic) => Array.isArray(topic) && topic.length > MAX_LIST);
  if (many !== -1) {
    return `topics: ${(value[many] as unknown[]).length} alternatives at index ${many}, at most ${MAX_LIST}`;
  }
  return checkEach(value, topicCheck, 'topic');
}

/** A topic, null for any, or a list of alternatives. */
export const topicCheck: Check = (topic) => {
  const alternatives: unknown[] = Array.isArray(topic) ? topic : [topic];
  for (const each of alternatives) {
    const wrong = each === null ? null : hash(each);
    if (wrong !== null) return wrong;
  }
  return null;
};

/** A checked filter object in its canonical form: lower case, lists, without fields that match everything. */
export function readLogFilter(value: unknown): LogFilter {
  const { fromBlock, toBlock, blockHash, address: from, topics } = value as Record<string, unknown>;
  const list = isAbsent(from) ? [] : ([from].flat() as string[]);
  const places = ((topics ?? []) as (string | null | (string | null)[])[]).map((topic) => {
    const any = [topic].flat();
    // An empty list and a null among the alternatives match anything, as in geth.
    return any.length === 0 || any.includes(null)
      ? null
      : (any as string[]).map((each) => each.toLowerCase());
  });
  return {
    fromBlock: typeof fromBlock === 'string' ? blockText(fromBlock) : undefined,
    toBlock: typeof toBlock === 'string' ? blockText(toBlock) : undefined,
    blockHash: typeof blockHash === 'string' ? blockHash.toLowerCase() : undefined,
    address: list.length === 0 ? undefined : list.map((each) => each.toLowerCase()),
    topics: places.length === 0 ? undefined : places,
  };
}

function blockText(value: string): string {
  return BLOCK_TAGS.includes(value) ? value : value.toLowerCase();
}
