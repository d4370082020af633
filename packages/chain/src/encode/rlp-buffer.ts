import { nibble, SHORT_HEX } from '../record/hex.js';

/** Room before each item for the headers of a trie leaf and of the item's own list. */
const HEADROOM = 24;
/** Room for the header of a list whose length is not known yet. */
const LIST_ROOM = 5;
/** A buffer that a giant block made larger than this is released. */
const KEPT_BYTES = 16 * 1024 * 1024;

/**
 * RLP written into one growing buffer, from canonical hex.
 *
 * Items (a transaction, a receipt, a header) are written one after the other. An item's header is written before its
 * payload once the payload is complete, so that nothing is measured first. Between items there is room for a trie
 * leaf's header, so that a leaf is hashed in place.
 */
export class RlpBuffer {
  bytes: Buffer = Buffer.allocUnsafe(1 << 20);
  /** Offset of each finished item. */
  readonly starts: number[] = [];
  /** Offset after each finished item. */
  readonly ends: number[] = [];
  private at = 0;

  /** Forgets all items. */
  clear(): void {
    if (this.bytes.length > KEPT_BYTES) this.bytes = Buffer.allocUnsafe(1 << 20);
    this.starts.length = 0;
    this.ends.length = 0;
    this.at = 0;
  }

  get count(): number {
    return this.starts.length;
  }

  /** The bytes of an item; valid until something more is written. */
  item(index: number): Buffer {
    return this.bytes.subarray(this.starts[index], this.ends[index]);
  }

  /** Offset of the next byte. */
  get position(): number {
    return this.at;
  }

  /** Begins an item that is a list; returns the position of its payload. */
  beginItem(): number {
    this.reserve(HEADROOM);
    this.at += HEADROOM;
    return this.at;
  }

  /** Ends the item whose payload began at `payload`, with an EIP-2718 type byte in front unless it is 0. */
  endItem(payload: number, type = 0): void {
    let start = this.headerBefore(payload, this.at - payload, 0xc0);
    if (type !== 0) this.bytes[--start] = type;
    this.starts.push(start);
    this.ends.push(this.at);
  }

  /** Forgets the last item. */
  drop(): void {
    this.starts.pop();
    this.ends.pop();
  }

  /** Adds an item that is not a list, as it is. */
  rawItem(bytes: Uint8Array): void {
    this.beginItem();
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.at);
    this.starts.push(this.at);
    this.at += bytes.length;
    this.ends.push(this.at);
  }

  /** Begins a list inside an item; returns the position of its payload. */
  beginList(): number {
    this.reserve(LIST_ROOM);
    this.at += LIST_ROOM;
    return this.at;
  }

  /** Ends a list: writes its header into the room before it, and moves the payload there. */
  endList(payload: number): void {
    const length = this.at - payload;
    const start = payload - LIST_ROOM + headerLength(length);
    this.headerBefore(start, length, 0xc0);
    this.bytes.copyWithin(start, payload, this.at);
    this.at = start + length;
  }

  /** Writes a number, without the leading zeros of its hex. */
  quantity(hex: string): void {
    const length = hex.length;
    let from = 2;
    while (from < length && hex.charCodeAt(from) === 0x30) from++;
    const digits = length - from;
    this.reserve(40);
    const bytes = this.bytes;
    if (digits === 0) {
      bytes[this.at++] = 0x80;
      return;
    }
    if (digits > 2 || (digits === 2 && hex.charCodeAt(from) >= 0x38)) {
      bytes[this.at++] = 0x80 + ((digits + 1) >> 1);
    }
    if ((digits & 1) === 1) bytes[this.at++] = nibble(hex.charCodeAt(from++));
    this.decode(hex, from);
  }

  /** Writes a byte string. */
  data(hex: string): void {
    const length = (hex.length - 2) >> 1;
    this.reserve(length + 9);
    if (length !== 1 || hex.charCodeAt(2) >= 0x38) this.header(length, 0x80);
    this.decode(hex, 2);
  }

  /** Writes a byte string that is absent. */
  empty(): void {
    this.reserve(1);
    this.bytes[this.at++] = 0x80;
  }

  private header(length: number, offset: number): void {
    if (length < 56) {
      this.bytes[this.at++] = offset + length;
      return;
    }
    const size = toBytes(length);
    this.bytes[this.at] = offset + 55 + size;
    this.at += 1 + size;
    this.lengthBefore(this.at, length);
  }

  /** Writes a header of `length` right before `start`; returns its first byte. */
  headerBefore(start: number, length: number, offset: number): number {
    if (length < 56) {
      this.bytes[start - 1] = offset + length;
      return start - 1;
    }
    const first = this.lengthBefore(start, length) - 1;
    this.bytes[first] = offset + 55 + start - first - 1;
    return first;
  }

  /** Writes `length` as a big-endian number right before `start`; returns its first byte. */
  private lengthBefore(start: number, length: number): number {
    let at = start;
    for (let rest = length; rest > 0; rest >>>= 8) this.bytes[--at] = rest & 0xff;
    return at;
  }

  /** The hex digits of `hex` from `from` on, an even number. */
  private decode(hex: string, from: number): void {
    const length = hex.length;
    const bytes = this.bytes;
    let at = this.at;
    if (length > SHORT_HEX) {
      this.at = at + bytes.write(hex.slice(from), at, (length - from) >> 1, 'hex');
      return;
    }
    for (; from < length; from += 2) {
      bytes[at++] = (nibble(hex.charCodeAt(from)) << 4) | nibble(hex.charCodeAt(from + 1));
    }
    this.at = at;
  }

  private reserve(length: number): void {
    if (this.at + length <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.at + length));
    this.bytes.copy(larger, 0, 0, this.at);
    this.bytes = larger;
  }
}

/** Bytes of the length in the header of a list or string of this many bytes. */
function toBytes(length: number): number {
  return length < 0x100 ? 1 : length < 0x1_0000 ? 2 : length < 0x100_0000 ? 3 : 4;
}

/** Bytes of an RLP string or list header in front of a payload of `length` bytes. */
export function headerLength(length: number): number {
  return length < 56 ? 1 : 1 + toBytes(length);
}
