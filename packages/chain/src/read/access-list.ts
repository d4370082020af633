import { stringArray } from '../text/member.js';
import { addPair, moreFields } from './more-fields.js';
import type { Reader } from './reader.js';
import { UNLISTED_FIELDS } from './tables.js';

/** One address of an access list (EIP-2930), in canonical form. */
export interface AccessEntry {
  address: string;
  storageKeys: string[];
}

/** An access list and its canonical JSON. */
export interface AccessList {
  entries: AccessEntry[];
  text: string;
}

const EMPTY: AccessList = { entries: [], text: '[]' };

/** Reads an `accessList` that is there. */
export function readAccessList(reader: Reader, value: unknown): AccessList {
  const list = reader.array(value, 'accessList');
  if (list.length === 0) return EMPTY;
  const entries: AccessEntry[] = [];
  const texts: string[] = [];
  for (const item of list) {
    const raw = reader.object(item, 'accessList');
    const address = reader.bytes(raw.address, 'accessList.address', 20);
    // geth writes a tuple that has no keys as null
    const storageKeys = reader.items(raw.storageKeys ?? [], 'accessList.storageKeys', (key) =>
      reader.bytes(key, 'accessList.storageKeys', 32),
    );
    const pairs: string[] = [];
    addPair(pairs, 'address', address);
    pairs.push('storageKeys', stringArray(storageKeys));
    entries.push({ address, storageKeys });
    texts.push(`{${moreFields(reader, raw, UNLISTED_FIELDS, 0, pairs).slice(1)}}`);
  }
  return { entries, text: `[${texts.join(',')}]` };
}
