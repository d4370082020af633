/**
 * A map that forgets what was not used for longest as soon as the sizes of its values add up to more than a bound.
 * What is used is moved behind all others only where it has come into the older half: moving costs more than finding.
 */
export class BoundedLru<V> {
  readonly #entries = new Map<string, { value: V; size: number; turn: number }>();
  readonly #maxSize: number;
  #size = 0;
  /** Counts what was set or moved. */
  #turns = 0;

  /** `maxSize` is in the unit of the sizes given to `set` (bytes or entries). */
  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (this.#turns - entry.turn >= this.#entries.size / 2) {
      entry.turn = ++this.#turns;
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    return entry.value;
  }

  /** The value, without counting as use. */
  peek(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  set(key: string, value: V, size: number): void {
    this.delete(key);
    this.#entries.set(key, { value, size, turn: ++this.#turns });
    this.#size += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#maxSize) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#size -= entry.size;
  }
}
