import { getOrAdd } from '@packhouse/runtime';
import type { FilteredPart } from './filter-file.js';
import { filterItem } from './filter-items.js';
import { type Digests, distinctDigests, mayHold, toDigests } from './item-set.js';

/** What records must have. All texts are lower-case `0x` hex; an absent list leaves nothing out. */
interface ItemMatch {
  /** One of these accounts. */
  addresses?: readonly string[] | undefined;
  /** Of logs, by position as in eth_getLogs: one of the texts, or null for any topic or none. */
  topics?: readonly (readonly string[] | null)[] | undefined;
}

/** Compiles whether a part with these items can hold a matching record: false is certain. */
export function compileItems({
  addresses,
  topics = [],
}: ItemMatch): (items: FilteredPart['items']) => boolean {
  const digests = new Map<string, Digests>();
  const [first = null, ...others] = topics;
  return (items) => {
    const has = (...values: string[]): boolean =>
      mayHold(
        items,
        getOrAdd(digests, values.join(''), () => distinctDigests([toDigests([filterItem(...values)])])),
      );
    // All that one log must have: an address and a first topic are in the filter as a pair, too.
    if (!others.every((list) => list === null || list.some((topic) => has(topic)))) return false;
    const accounts = addresses?.filter((address) => has(address));
    const firsts = first?.filter((topic) => has(topic));
    if (accounts === undefined || firsts === undefined) {
      return accounts?.length !== 0 && firsts?.length !== 0;
    }
    return accounts.some((address) => firsts.some((topic) => has(address, topic)));
  };
}
