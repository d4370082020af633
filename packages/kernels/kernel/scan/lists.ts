/* Access lists (EIP-2930), and lists of hashes. */
import { beginList, endList, putData } from '../shared/rlp.js';
import { CLOSE_LIST, CLOSE_OBJECT, COMMA, fixedHex, hashes, OPEN_LIST, same } from './text.js';

/** `{"address":` */
const ADDRESS: usize = memory.data<u8>([123, 34, 97, 100, 100, 114, 101, 115, 115, 34, 58]);
/** `,"storageKeys":` */
const STORAGE_KEYS: usize = memory.data<u8>([
  44, 34, 115, 116, 111, 114, 97, 103, 101, 75, 101, 121, 115, 34, 58,
]);
const ADDRESS_LENGTH: usize = 11;
const KEYS_LENGTH: usize = 15;
/** A hash with its quotes. */
const HASH_LENGTH: usize = 68;

/** An access list whose entries are in canonical form: the address, then the keys. */
export function accessList(p: usize): usize {
  if (<u32>load<u8>(p++) !== OPEN_LIST) return 0;
  if (<u32>load<u8>(p) === CLOSE_LIST) return p + 1;
  while (true) {
    if (!same(p, ADDRESS, ADDRESS_LENGTH)) return 0;
    p = fixedHex(p + ADDRESS_LENGTH, 40);
    if (p === 0 || !same(p, STORAGE_KEYS, KEYS_LENGTH)) return 0;
    p = hashes(p + KEYS_LENGTH, 0xffffffff);
    if (p === 0 || <u32>load<u8>(p++) !== CLOSE_OBJECT) return 0;
    const byte = <u32>load<u8>(p++);
    if (byte === CLOSE_LIST) return p;
    if (byte !== COMMA) return 0;
  }
}

/** Puts an access list that `accessList` read into the RLP of its transaction. */
export function putAccessList(p: usize): void {
  const list = beginList();
  p++;
  while (<u32>load<u8>(p) !== CLOSE_LIST) {
    if (<u32>load<u8>(p) === COMMA) p++;
    const entry = beginList();
    p += ADDRESS_LENGTH + 3;
    putData(p, 40);
    p += 41 + KEYS_LENGTH;
    const keys = beginList();
    p = putHashes(p);
    endList(keys);
    endList(entry);
    p++;
  }
  endList(list);
}

/** Puts the hashes of a list at `p`, without the list's head; returns the address behind it. */
export function putHashes(p: usize): usize {
  p++;
  while (<u32>load<u8>(p) !== CLOSE_LIST) {
    if (<u32>load<u8>(p) === COMMA) p++;
    putData(p + 3, 64);
    p += HASH_LENGTH;
  }
  return p + 1;
}
