import type { FetchedBlock, MethodAnswers, RawBlock } from './block-source.js';

/** An answer for a part of a block, or several put together. */
export interface Part<T> {
  /** Parsed when it is read for the first time, if `raw` is there; then it may throw NODE_NOT_JSON_RPC. */
  readonly value: T;
  /** Its bytes. */
  readonly raw?: Buffer | undefined;
}

/** The parts of a block: those that were asked for, or are known to be empty. */
interface Parts {
  number: number;
  upstream: string;
  client: string | null;
  block: Part<unknown>;
  /** The block without its transactions; present if `block` has bytes. */
  header: Record<string, unknown> | undefined;
  receipts: Part<unknown[]> | undefined;
  traces: Part<unknown[]> | AsyncIterable<unknown> | undefined;
  answered: MethodAnswers[];
}

/** The list of a part that was not asked for, since there is nothing in it. */
export function emptyPart(): Part<unknown[]> {
  return { value: [], raw: Buffer.from('[]') };
}

/** A fetched block whose parts are parsed when they are read. */
export function lazyBlock({ header, block, receipts, traces, ...facts }: Parts): FetchedBlock {
  const stream = traces !== undefined && isStream(traces) ? traces : undefined;
  const list = traces === undefined || isStream(traces) ? undefined : traces;
  const bytes = facts.answered.reduce((sum, each) => sum + each.bytes, 0);
  const raw = stream === undefined ? rawOf(header, block, receipts, list) : undefined;
  const made = { ...facts, bytes, ...(stream && { stream }), ...(raw && { raw }) };
  const parts = { block, receipts, traces: stream === undefined ? list : { value: stream } };
  for (const [name, part] of Object.entries(parts)) {
    if (part !== undefined) Object.defineProperty(made, name, { enumerable: true, get: () => part.value });
  }
  return made as typeof made & Pick<FetchedBlock, keyof typeof parts>;
}

/** The bytes of a block; undefined if a part has none. */
function rawOf(
  header: Record<string, unknown> | undefined,
  { raw: block }: Part<unknown>,
  receipts: Part<unknown> | undefined,
  traces: Part<unknown> | undefined,
): RawBlock | undefined {
  if (header === undefined || block === undefined) return undefined;
  const raw: RawBlock = { header, block };
  for (const [name, part] of Object.entries({ receipts, traces })) {
    if (part === undefined) continue;
    if (part.raw === undefined) return undefined;
    raw[name as 'receipts' | 'traces'] = part.raw;
  }
  return raw;
}

/** Whether traces still arrive. */
export function isStream(traces: Part<unknown[]> | AsyncIterable<unknown>): traces is AsyncIterable<unknown> {
  return Symbol.asyncIterator in traces;
}
