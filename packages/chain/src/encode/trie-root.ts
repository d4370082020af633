import type { Keccak } from './keccak.js';
import type { RlpBuffer } from './rlp-buffer.js';

/** Root of an empty trie: keccak(RLP of the empty string). */
export const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';

/**
 * Root of the Merkle-Patricia trie with item i under the key rlp(i), as block headers commit to lists.
 *
 * Keys are known and prefix-free, so the trie is built from the sorted keys by halving at each nibble: a node is
 * written once, in place, and never read again. Source: Yellow Paper, appendix D.
 */
export function trieRoot(items: RlpBuffer, keccak: Keccak): Uint8Array {
  return new TrieBuilder(items, keccak).root();
}

/** Number of nibbles of rlp(index). */
export function keyLength(index: number): number {
  if (index < 0x80) return 2;
  return index < 0x100 ? 4 : index < 0x1_0000 ? 6 : 8;
}

/** rlp(index) as one number; `index` is below 2^24. */
export function toTrieKey(index: number): number {
  if (index === 0) return 0x80;
  if (index < 0x80) return index;
  if (index < 0x100) return 0x8100 + index;
  return index < 0x1_0000 ? 0x82_0000 + index : 0x8300_0000 + index;
}

class TrieBuilder {
  /** Item numbers in the order of their keys: 1 to 127, 0, 128 and on. */
  private readonly order: Uint32Array;
  /** A branch of 16 hashes, or an extension. */
  private readonly node = Buffer.allocUnsafe(3 + 16 * 33 + 1);
  private readonly count: number;

  constructor(
    private readonly items: RlpBuffer,
    private readonly keccak: Keccak,
  ) {
    this.count = items.count;
    this.order = new Uint32Array(this.count);
    for (let index = 0; index < this.count; index++) {
      const place = index === 0 ? Math.min(this.count, 128) - 1 : index < 128 ? index - 1 : index;
      this.order[place] = index;
    }
  }

  root(): Uint8Array {
    if (this.count === 0) return this.keccak.hash(Uint8Array.of(0x80));
    const node = this.build(0, this.count, 0);
    // a root is hashed even when it is short enough to be inside a parent
    return node.length === 32 ? node : this.keccak.hash(node);
  }

  /** The nibble of the key at `place`; `depth` nibbles are before it. */
  private nibbleAt(place: number, depth: number): number {
    const index = this.order[place]!;
    return (toTrieKey(index) >>> (4 * (keyLength(index) - 1 - depth))) & 15;
  }

  /** The reference to the keys from `low` to before `high` in their parent: a hash, or a node of under 32 bytes. */
  private build(low: number, high: number, depth: number): Uint8Array {
    if (high - low === 1) return this.leaf(this.order[low]!, depth);
    // the keys are sorted, so a prefix shared by the first and the last is shared by all
    let shared = depth;
    while (this.nibbleAt(low, shared) === this.nibbleAt(high - 1, shared)) shared++;
    if (shared > depth) return this.extension(low, depth, shared, this.build(low, high, shared));
    const children: (Uint8Array | undefined)[] = [];
    let payload = 1;
    for (let digit = 0; digit < 16; digit++) {
      let end = low;
      while (end < high && this.nibbleAt(end, depth) === digit) end++;
      const child = end > low ? this.build(low, end, depth + 1) : undefined;
      payload += child === undefined ? 1 : refLength(child);
      children.push(child);
      low = end;
    }
    let at = this.listHeader(payload);
    for (const child of children) at = this.ref(child, at);
    this.node[at++] = 0x80;
    return this.finish(this.node.subarray(0, at));
  }

  private leaf(index: number, depth: number): Uint8Array {
    const { items } = this;
    const end = items.ends[index]!;
    let start = items.starts[index]!;
    const length = end - start;
    if (length !== 1 || items.bytes[start]! >= 0x80) start = items.headerBefore(start, length, 0x80);
    start = this.pathBefore(items.bytes, start, toTrieKey(index), keyLength(index) - depth, 0x20);
    start = items.headerBefore(start, end - start, 0xc0);
    return this.finish(items.bytes.subarray(start, end));
  }

  private extension(low: number, depth: number, shared: number, child: Uint8Array): Uint8Array {
    const index = this.order[low]!;
    const path = toTrieKey(index) >>> (4 * (keyLength(index) - shared));
    const room = 16;
    const start = this.pathBefore(this.node, room, path, shared - depth, 0);
    const end = this.ref(child, room);
    this.node[start - 1] = 0xc0 + end - start;
    return this.finish(this.node.subarray(start - 1, end));
  }

  /** Writes the last `nibbles` nibbles of `path`, hex-prefix encoded, before `start`; returns their first byte. */
  private pathBefore(bytes: Buffer, start: number, path: number, nibbles: number, flag: number): number {
    let rest = path;
    let at = start;
    for (let left = nibbles; left >= 2; left -= 2) {
      bytes[--at] = rest & 0xff;
      rest >>>= 8;
    }
    bytes[--at] = (nibbles & 1) === 1 ? flag + 0x10 + (rest & 15) : flag;
    // one byte below 0x80 is its own encoding
    if (start - at > 1) {
      bytes[at - 1] = 0x80 + start - at;
      at--;
    }
    return at;
  }

  private listHeader(payload: number): number {
    const { node } = this;
    if (payload < 56) {
      node[0] = 0xc0 + payload;
      return 1;
    }
    if (payload < 0x100) {
      node[0] = 0xf8;
      node[1] = payload;
      return 2;
    }
    node[0] = 0xf9;
    return node.writeUInt16BE(payload, 1);
  }

  private ref(child: Uint8Array | undefined, at: number): number {
    const { node } = this;
    if (child === undefined) {
      node[at] = 0x80;
      return at + 1;
    }
    if (child.length === 32) node[at++] = 0xa0;
    node.set(child, at);
    return at + child.length;
  }

  /** A node of 32 bytes and more is referenced by its hash. */
  private finish(node: Buffer): Uint8Array {
    return node.length < 32 ? Uint8Array.from(node) : this.keccak.hash(node);
  }
}

function refLength(child: Uint8Array): number {
  return child.length === 32 ? 33 : child.length;
}
