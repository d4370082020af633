import { AUTHORIZATION_FIELDS, addPair, moreFields, type Pairs, UNLISTED_FIELDS } from './fields.js';
import { toQuantity } from './hex.js';
import { stringArray } from './json-text.js';
import type { Optional, Raw, Reader } from './reader.js';

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

/** Reads an existing `accessList`. */
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

/** One signed delegation of an account (EIP-7702), in canonical form. */
export interface Authorization {
  chainId: string;
  address: string;
  nonce: string;
  yParity: string;
  r: string;
  s: string;
}

/** An authorization list and its canonical JSON. */
export interface AuthorizationList {
  entries: Authorization[];
  text: string;
}

/**
 * Reads an existing `authorizationList`.
 *
 * Its `r` and `s` are QUANTITY, as in execution-apis; only those of the transaction itself have 32 bytes.
 */
export function readAuthorizationList(reader: Reader, value: unknown): AuthorizationList {
  const entries: Authorization[] = [];
  const texts: string[] = [];
  for (const item of reader.array(value, 'authorizationList')) {
    const raw = reader.object(item, 'authorizationList');
    if (raw.chain_id !== undefined) {
      entries.push(readFrontierEntry(reader, raw));
      texts.push(`{${moreFields(reader, raw, AUTHORIZATION_FIELDS, 0, []).slice(1)}}`);
      continue;
    }
    const yParity: Optional<string> = reader.optionalQuantity(raw.yParity, 'authorizationList.yParity');
    const entry: Authorization = {
      chainId: reader.quantity(raw.chainId, 'authorizationList.chainId'),
      address: reader.bytes(raw.address, 'authorizationList.address', 20),
      nonce: reader.quantity(raw.nonce, 'authorizationList.nonce'),
      // the name that nodes used before the EIP was final
      yParity: yParity ?? reader.quantity(raw.v, 'authorizationList.yParity'),
      r: reader.quantity(raw.r, 'authorizationList.r'),
      s: reader.quantity(raw.s, 'authorizationList.s'),
    };
    const pairs: Pairs = [];
    addPair(pairs, 'address', entry.address);
    addPair(pairs, 'chainId', entry.chainId);
    addPair(pairs, 'nonce', entry.nonce);
    addPair(pairs, 'r', entry.r);
    addPair(pairs, 's', entry.s);
    addPair(pairs, 'yParity', reader.keepExtras ? yParity : entry.yParity);
    entries.push(entry);
    const table = reader.keepExtras ? AUTHORIZATION_FIELDS : UNLISTED_FIELDS;
    texts.push(`{${moreFields(reader, raw, table, 0, pairs).slice(1)}}`);
  }
  return { entries, text: `[${texts.join(',')}]` };
}

/** An entry as Substrate's EVM writes it; its text stays as it came. */
function readFrontierEntry(reader: Reader, raw: Raw): Authorization {
  const signature = reader.object(raw.signature, 'authorizationList.signature');
  const odd = reader.boolean(signature.odd_y_parity, 'authorizationList.signature.odd_y_parity');
  return {
    chainId: toQuantity(reader.integer(raw.chain_id, 'authorizationList.chain_id')),
    address: reader.bytes(raw.address, 'authorizationList.address', 20),
    nonce: reader.quantity(raw.nonce, 'authorizationList.nonce'),
    yParity: odd ? '0x1' : '0x0',
    r: reader.quantity(signature.r, 'authorizationList.signature.r'),
    s: reader.quantity(signature.s, 'authorizationList.signature.s'),
  };
}
