import { hashOf, isSame } from './text-words.js';

/** Parts of a text that differ, numbered in the order in which they are found. */
export class SlicePool {
  readonly #text: DataView;
  /** Start and end of each. */
  #slices = new Uint32Array(512);
  #hashes = new Int32Array(256);
  /** By hash: the number of a part and one; 0: none. Its length is a power of two, at least twice the parts. */
  #slots = new Uint32Array(512);
  size = 0;

  constructor(text: DataView) {
    this.#text = text;
  }

  /** The number of a part; one that is new has the next number. */
  place(start: number, end: number): number {
    const hash = hashOf(this.#text, start, end);
    const mask = this.#slots.length - 1;
    let slot = (hash ^ (hash >>> 15)) & mask;
    for (let found = this.#slots[slot] as number; found !== 0; found = this.#slots[slot] as number) {
      if (this.#hashes[found - 1] === hash && this.#isEqual(found - 1, start, end)) return found - 1;
      slot = (slot + 1) & mask;
    }
    const place = this.size++;
    this.#slices[2 * place] = start;
    this.#slices[2 * place + 1] = end;
    this.#hashes[place] = hash;
    this.#slots[slot] = place + 1;
    if (2 * this.size === this.#slots.length) this.#grow();
    return place;
  }

  #isEqual(place: number, start: number, end: number): boolean {
    const from = this.#slices[2 * place] as number;
    const length = (this.#slices[2 * place + 1] as number) - from;
    return length === end - start && isSame(this.#text, from, start, length);
  }

  #grow(): void {
    const slices = new Uint32Array(this.#slices.length * 2);
    slices.set(this.#slices);
    this.#slices = slices;
    const hashes = new Int32Array(this.#hashes.length * 2);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
    this.#slots = new Uint32Array(this.#slots.length * 2);
    const mask = this.#slots.length - 1;
    for (let place = 0; place < this.size; place += 1) {
      const hash = hashes[place] as number;
      let slot = (hash ^ (hash >>> 15)) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = place + 1;
    }
  }
}
