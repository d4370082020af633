/**
 * A JSON text with slots: what stays the same from one block of a longer chain to the next is kept once, what
 * changes (hash, number, …) is written over a copy at offsets that are known beforehand.
 *
 *   parts   "…"hash":"", slot, "","number":"", slot, …     independent of widths
 *   layout  one Buffer and the offsets of its slots         for slots of these widths
 *   render  a copy of the Buffer with the slots filled in   per block; copies are used again
 */
import type { ServedText } from './served-chain.js';

/** Slots that a block's texts have; those of transactions follow, two each. */
export const SLOT = {
  hash: 0,
  parentHash: 1,
  number: 2,
  numberDecimal: 3,
  timestamp: 4,
  totalDifficulty: 5,
  size: 6,
  mixHash: 7,
  transactionsRoot: 8,
} as const;

const FIRST_TRANSACTION_SLOT = 9;

/** The slot of a transaction's hash. */
export function transactionHashSlot(index: number): number {
  return FIRST_TRANSACTION_SLOT + index * 2;
}

/** The slot of the last 16 digits of a transaction's signature value `r`. */
export function signatureSlot(index: number): number {
  return FIRST_TRANSACTION_SLOT + index * 2 + 1;
}

/** What fills the slots, as ASCII, by slot. */
type SlotValues = readonly Uint8Array[];

const ITEM_START = -1;
const ITEM_END = -2;
/** More copies than this are let go: one is being filled while another one is on its way. */
const KEPT_COPIES = 2;
/** A chain passes through few widths, one after the other. */
const KEPT_LAYOUTS = 2;

interface Layout {
  base: Buffer;
  slots: Int32Array;
  offsets: Int32Array;
  itemStarts: number[];
  itemEnds: number[];
  free: Buffer[];
}

/** A text being written down piece by piece. */
export class TextTemplate {
  private readonly parts: (string | number)[] = [];
  private readonly layouts = new Map<string, Layout>();

  /** Appends JSON text that never changes. */
  text(text: string): this {
    const last = this.parts.length - 1;
    if (typeof this.parts[last] === 'string') this.parts[last] += text;
    else this.parts.push(text);
    return this;
  }

  /** Appends a slot. */
  slot(slot: number): this {
    this.parts.push(slot);
    return this;
  }

  /** Appends one item of the text's array: what `write` writes. */
  item(write: () => void): this {
    this.parts.push(ITEM_START);
    write();
    this.parts.push(ITEM_END);
    return this;
  }

  /** The text with these values in its slots, as a ServedText that fills a copy when it is walked. */
  served(values: SlotValues): ServedText {
    const layout = this.layout(values);
    const { base, free } = layout;
    if (layout.slots.length === 0) return { byteLength: base.length, pieces: () => [base] };
    let copy: Buffer | undefined;
    return {
      byteLength: base.length,
      pieces() {
        copy ??= fill(layout, values);
        return [copy];
      },
      release() {
        if (copy !== undefined && free.length < KEPT_COPIES) free.push(copy);
        copy = undefined;
      },
    };
  }

  /** A copy of one item of the array, slots filled in; undefined if there is no such item. */
  renderItem(values: SlotValues, index: number): Buffer | undefined {
    const { base, slots, offsets, itemStarts, itemEnds } = this.layout(values);
    const start = itemStarts[index];
    const end = itemEnds[index];
    if (start === undefined || end === undefined) return undefined;
    const out = Buffer.from(base.subarray(start, end));
    for (let at = 0; at < slots.length; at++) {
      const offset = offsets[at] as number;
      if (offset >= start && offset < end) out.set(values[slots[at] as number] as Uint8Array, offset - start);
    }
    return out;
  }

  private layout(values: SlotValues): Layout {
    // Only these slots differ in width between blocks.
    const key = [SLOT.number, SLOT.numberDecimal, SLOT.timestamp, SLOT.totalDifficulty, SLOT.size]
      .map((slot) => values[slot]?.length ?? 0)
      .join();
    let layout = this.layouts.get(key);
    if (layout === undefined) {
      layout = this.lay(values);
      this.layouts.set(key, layout);
      if (this.layouts.size > KEPT_LAYOUTS) this.layouts.delete(this.layouts.keys().next().value as string);
    }
    return layout;
  }

  private lay(values: SlotValues): Layout {
    const pieces: Uint8Array[] = [];
    const slots: number[] = [];
    const offsets: number[] = [];
    const itemStarts: number[] = [];
    const itemEnds: number[] = [];
    let length = 0;
    for (const part of this.parts) {
      if (part === ITEM_START) itemStarts.push(length);
      else if (part === ITEM_END) itemEnds.push(length);
      else {
        const piece = typeof part === 'string' ? Buffer.from(part) : (values[part] as Uint8Array);
        if (typeof part === 'number') {
          slots.push(part);
          offsets.push(length);
        }
        pieces.push(piece);
        length += piece.length;
      }
    }
    return {
      base: Buffer.concat(pieces, length),
      slots: Int32Array.from(slots),
      offsets: Int32Array.from(offsets),
      itemStarts,
      itemEnds,
      free: [],
    };
  }
}

function fill(layout: Layout, values: SlotValues): Buffer {
  const { slots, offsets } = layout;
  const out = layout.free.pop() ?? Buffer.from(layout.base);
  for (let at = 0; at < slots.length; at++) {
    out.set(values[slots[at] as number] as Uint8Array, offsets[at] as number);
  }
  return out;
}
