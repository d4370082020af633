import type { Outlined } from '@packhouse/kernels';
import { type Fault, isFault } from '../upstream/fault.js';

/** The `result` of a call that is parsed only when somebody asks for it. */
export class RawResult {
  /**
   * ASCII: a part of the whole body, which stays in memory until the last block of its batch is released. Readers take the
   * blocks of a batch one after the other, and it has some 400 KB (batch-sizes.ts), no more than its parsed values would take.
   */
  readonly bytes: Buffer;
  /** Where its parts are; offsets are those of the body. */
  readonly outlined: Outlined;
  readonly #body: Buffer;
  readonly #malformed: (cause: unknown) => Fault;
  #fault: Fault | undefined;
  #parsed: { value: unknown } | undefined;

  /** `malformed` makes the fault of what is no JSON, at most once. */
  constructor(body: Buffer, outlined: Outlined, malformed: (cause: unknown) => Fault) {
    this.bytes = body.subarray(outlined.start, outlined.end);
    this.outlined = outlined;
    this.#body = body;
    this.#malformed = malformed;
  }

  /** Parses all of it, once. */
  read(): { value: unknown } | Fault {
    if (this.#parsed !== undefined) return this.#parsed;
    const parsed = this.readPart(this.outlined);
    if (!isFault(parsed)) this.#parsed = parsed;
    return parsed;
  }

  /** All of it. Throws NODE_NOT_JSON_RPC. */
  get value(): unknown {
    const parsed = this.read();
    if (isFault(parsed)) throw parsed.error;
    return parsed.value;
  }

  /** The bytes of a part of it. */
  toBytes({ start, end }: { start: number; end: number }): Buffer {
    return this.#body.subarray(start, end);
  }

  /** Parses a part of it. */
  readPart({ start, end }: { start: number; end: number }): { value: unknown } | Fault {
    return this.#parse(this.#text(start, end));
  }

  /** Parses it as if this array within it were empty. */
  readAround(array: { start: number; end: number }): { value: unknown } | Fault {
    const { start, end } = this.outlined;
    return this.#parse(`${this.#text(start, array.start)}[]${this.#text(array.end, end)}`);
  }

  #text(start: number, end: number): string {
    return this.#body.toString('latin1', start, end);
  }

  #parse(text: string): { value: unknown } | Fault {
    if (this.#fault !== undefined) return this.#fault;
    try {
      return { value: JSON.parse(text) as unknown };
    } catch (error) {
      this.#fault = this.#malformed(error);
      return this.#fault;
    }
  }
}
