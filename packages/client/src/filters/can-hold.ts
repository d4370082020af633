import { filterItem, mayContain } from '@packhouse/bundle';

/** What records are looked for. Absent: any. All texts are `0x` hex. */
export interface Wanted {
  /** Accounts, one of which is enough: of a log its address, else sender, recipient and so on. */
  addresses?: readonly string[] | undefined;
  /** Of logs, by position as in eth_getLogs: one of the texts, or null for any. */
  topics?: readonly (readonly string[] | null)[] | undefined;
}

/** Whether a file with this filter can hold a record that is wanted: false is certain. Throws BUNDLE_INVALID. */
export function canHold(filter: Uint8Array, { addresses, topics = [] }: Wanted): boolean {
  const has = (...values: string[]): boolean => mayContain(filter, filterItem(...values));
  // All that one log must have: an address and a first topic are in the filter as a pair, too.
  const [first = null, ...others] = topics;
  if (!others.every((list) => list === null || list.some((topic) => has(topic)))) return false;
  const accounts = addresses?.filter((address) => has(address));
  const firsts = first?.filter((topic) => has(topic));
  if (accounts === undefined || firsts === undefined) {
    return accounts?.length !== 0 && firsts?.length !== 0;
  }
  return accounts.some((address) => firsts.some((topic) => has(address, topic)));
}
