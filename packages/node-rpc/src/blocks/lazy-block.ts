import type { RawBlock } from '@packhouse/chain';
import type { FetchedBlock, MethodAnswers } from './block-source.js';

/** An answer for a part of a block, or several put together. */
export interface Part<T> {
  /** Parsed when it is read for the first time, if `raw` is there; then it may throw NODE_NOT_JSON_RPC. */
  readonly value: T;
  /** Its bytes. */
  readonly raw?: Buffer | undefined;
}

/** The parts of a block: those that were asked for, or are known to be empty. */
interface Parts extends Pick<FetchedBlock, 'number' | 'upstream' | 'answered'> {
  client: string | null;
  block: Part<unknown>;
  /** The block without its transactions, and their bytes; present if they were not parsed. */
  header: Record<string, unknown> | undefined;
  transactionBytes: Buffer | undefined;
  receipts: Part<unknown[]> | undefined;
  traces: Part<unknown[]> | AsyncIterable<unknown> | undefined;
}

/** The list of a part that was not asked for, since there is nothing in it. */
export function emptyPart(): Part<unknown[]> {
  return { value: [], raw: Buffer.from('[]') };
}

/** A fetched block whose parts are parsed when they are read. Its getters are of the class as those of RawAnswer are. */
export class LazyBlock implements FetchedBlock {
  readonly number: number;
  readonly upstream: string;
  readonly client: string | null;
  readonly raw: RawBlock | undefined;
  readonly stream: AsyncIterable<unknown> | undefined;
  readonly bytes: number;
  readonly answered: MethodAnswers[];
  readonly #block: Part<unknown>;
  readonly #receipts: Part<unknown[]> | undefined;
  readonly #traces: Part<unknown[]> | undefined;

  constructor(parts: Parts) {
    const { number, upstream, client, block, receipts, traces, answered } = parts;
    this.number = number;
    this.upstream = upstream;
    this.client = client;
    this.answered = answered;
    this.bytes = answered.reduce((sum, each) => sum + each.bytes, 0);
    this.#block = block;
    this.#receipts = receipts;
    if (traces !== undefined && isStream(traces)) this.stream = traces;
    else {
      this.#traces = traces;
      this.raw = toRaw(parts, receipts, traces);
    }
  }

  get block(): unknown {
    return this.#block.value;
  }
  get receipts(): unknown[] | undefined {
    return this.#receipts?.value;
  }
  get traces(): unknown[] | AsyncIterable<unknown> | undefined {
    return this.stream ?? this.#traces?.value;
  }
}

/** The bytes of a block; undefined if a part has none. */
function toRaw(
  { header, transactionBytes: transactions }: Parts,
  receipts: Part<unknown> | undefined,
  traces: Part<unknown> | undefined,
): RawBlock | undefined {
  if (header === undefined || transactions === undefined) return undefined;
  const raw: RawBlock = { header, transactions };
  for (const [name, part] of Object.entries({ receipts, traces })) {
    if (part === undefined) continue;
    if (part.raw === undefined) return undefined;
    raw[name as 'receipts' | 'traces'] = part.raw;
  }
  return raw;
}

/** Whether traces still arrive. */
function isStream(traces: Part<unknown[]> | AsyncIterable<unknown>): traces is AsyncIterable<unknown> {
  return Symbol.asyncIterator in traces;
}

/** Closes the connection of traces that still arrive and will not be read. */
export function closeStream(traces: Part<unknown[]> | AsyncIterable<unknown>): void {
  if (isStream(traces)) void traces[Symbol.asyncIterator]().return?.();
}
