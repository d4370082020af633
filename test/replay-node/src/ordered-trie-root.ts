import { keccak } from './hex.js';
import { encodeRlp, type RlpItem } from './rlp.js';

interface Entry {
  nibbles: number[];
  value: Uint8Array;
}

const EMPTY = Buffer.alloc(0);

/** Root of the Merkle Patricia trie that holds `values` under the RLP of their positions (Yellow Paper, appendix D). */
export function orderedTrieRoot(values: readonly Uint8Array[]): Uint8Array {
  const entries = values.map((value, index) => {
    const key = encodeRlp(Buffer.from(index === 0 ? '' : evenHex(index), 'hex'));
    return { nibbles: [...key].flatMap((byte) => [byte >> 4, byte & 15]), value };
  });
  return keccak(encodeRlp(node(entries, 0)));
}

function evenHex(value: number): string {
  const digits = value.toString(16);
  return digits.length % 2 === 0 ? digits : `0${digits}`;
}

/** The node over entries that agree in their first `depth` nibbles. */
function node(entries: Entry[], depth: number): RlpItem {
  const first = entries[0];
  if (first === undefined) return EMPTY;
  if (entries.length === 1) return [compact(first.nibbles.slice(depth), true), first.value];
  let shared = depth;
  while (entries.every((entry) => entry.nibbles[shared] === first.nibbles[shared])) shared++;
  if (shared > depth) {
    return [compact(first.nibbles.slice(depth, shared), false), reference(node(entries, shared))];
  }
  // No key here is the beginning of another, so a branch never holds a value.
  const branches: RlpItem[] = [];
  for (let nibble = 0; nibble < 16; nibble++) {
    const below = entries.filter((entry) => entry.nibbles[depth] === nibble);
    branches.push(below.length === 0 ? EMPTY : reference(node(below, depth + 1)));
  }
  return [...branches, EMPTY];
}

/** Nodes shorter than a hash stand in their parent themselves. */
function reference(item: RlpItem): RlpItem {
  const encoded = encodeRlp(item);
  return encoded.length < 32 ? item : keccak(encoded);
}

function compact(nibbles: number[], leaf: boolean): Buffer {
  const flag = leaf ? 2 : 0;
  const padded = nibbles.length % 2 === 0 ? [flag, 0, ...nibbles] : [flag + 1, ...nibbles];
  const out = Buffer.alloc(padded.length / 2);
  for (let at = 0; at < out.length; at++) {
    out[at] = ((padded[at * 2] as number) << 4) | (padded[at * 2 + 1] as number);
  }
  return out;
}
