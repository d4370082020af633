/**
 * The answers that are made of one block: the block with full transactions or with their hashes, its receipts,
 * `trace_block`, and `debug_traceBlockBy…` with flatCallTracer (geth's or parity's error words) or callTracer.
 */
export const ANSWER_PARTS = [
  'block',
  'blockWithHashes',
  'receipts',
  'traces',
  'debugFlat',
  'debugFlatParity',
  'debugCall',
] as const;

/** One of the answers that are made of one block. */
export type AnswerPart = (typeof ANSWER_PARTS)[number];

/** The JSON text of one answer. */
export interface ServedText {
  readonly byteLength: number;
  /** The text, in order, to be walked once; no piece may be touched after `release`. */
  pieces(): Iterable<Buffer>;
  /** To be called once the pieces are with the operating system: their memory is used again. */
  release?(): void;
}

/** A block that can be served. */
export interface ServedBlock {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly transactionCount: number;
  /** The whole answer; undefined if this block was recorded without it. */
  text(part: AnswerPart): ServedText | undefined;
  /** One item of the answer's array (a transaction, a receipt, a trace) as JSON text of its own. */
  item(part: AnswerPart, index: number): Buffer | undefined;
}

/** Where a transaction is. */
export interface TransactionPlace {
  number: number;
  index: number;
}

/** Blocks by number, each made when it is asked for. */
export interface ServedChain {
  readonly firstNumber: number;
  readonly lastNumber: number;
  /** The block of that number; undefined outside the chain and in the gaps of a recording that has some. */
  block(number: number): ServedBlock | undefined;
  /** The number of the block with that hash. */
  toNumber(hash: string): number | undefined;
  locateTransaction(hash: string): TransactionPlace | undefined;
}

/** A whole answer as one Buffer of its own. */
export function readText(text: ServedText): Buffer {
  const copy = Buffer.concat([...text.pieces()]);
  text.release?.();
  return copy;
}

/** The parsed value of a block's answer: what a client would have got; undefined if there is none. */
export function readValue(block: ServedBlock, part: AnswerPart): unknown {
  const text = block.text(part);
  return text === undefined ? undefined : JSON.parse(readText(text).toString());
}
