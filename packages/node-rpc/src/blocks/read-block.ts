import type { Outlined } from '@packhouse/kernels';
import type { BatchUpstream } from '../calls/batch-upstream.js';
import type { GoodAnswer, RawResult } from '../calls/call.js';
import type { BlockFacts } from '../calls/capabilities.js';
import { type Fault, isFault, makeFault } from '../upstream/fault.js';
import type { Part } from './lazy-block.js';

/** The parts of a block that fetching needs. */
export interface ReadBlock extends BlockFacts {
  block: Part<Json>;
  /** The block without its transactions, and their bytes; present if they were not parsed. */
  header?: Json;
  transactionBytes?: Buffer;
  /** There are no traces: no transactions, and no reward since the merge set the difficulty to 0. */
  untraceable: boolean;
}

/**
 * Reads the answer of eth_getBlockByNumber and checks only what the next calls depend on. `hashesOnly`: only the
 * hashes of the transactions were requested. Transactions whose bytes came are counted and not parsed.
 */
export function readBlock(
  node: BatchUpstream,
  number: number,
  answer: GoodAnswer,
  hashesOnly = false,
): ReadBlock | Fault {
  const asked = { label: node.label, what: `eth_getBlockByNumber for block ${number}`, block: number };
  const { raw } = answer;
  const list = raw?.outlined.member('transactions');
  const count = list?.objects ?? null;
  const isLazy = raw !== undefined && list !== undefined && count !== null;
  const parsed = isLazy ? raw.readAround(list) : (raw?.read() ?? { value: answer.value });
  if (isFault(parsed)) return parsed;
  const { value } = parsed;
  if (value === null) {
    const known = node.head === null ? '' : ` though its head is ${node.head}`;
    return makeFault(asked, 'NODE_ANSWER_MISSING', `answered null${known}`, 'elsewhere', {
      hint: 'It is behind, or it does not keep this part of the chain.',
    });
  }
  const invalid = (happened: string): Fault =>
    makeFault(asked, 'NODE_ANSWER_INVALID', happened, 'elsewhere', { data: { block: number } });
  if (typeof value !== 'object' || Array.isArray(value))
    return invalid('answered with something that is no block');
  const header = value as Json;
  const { difficulty, hash } = header;
  if (typeof hash !== 'string') return invalid('answered with a block that has no hash');
  if (typeof header.number !== 'string' || Number(header.number) !== number) {
    return invalid(`answered with block ${node.label.quote(String(header.number))}`);
  }
  if (!Array.isArray(header.transactions)) return invalid('answered with a block that has no transactions');
  const getHashes = (block: Json): readonly string[] | Fault =>
    transactionHashes(block.transactions as unknown[], hashesOnly) ??
    invalid('answered with a block whose transactions are not whole');
  const pastMerge = typeof difficulty === 'string' && Number(difficulty) === 0;
  const facts = (transactions: number) => ({
    number,
    hash,
    transactions,
    // Genesis has neither transactions nor a reward, and several node programs return an error for tracing it.
    untraceable: transactions === 0 && (pastMerge || number === 0),
    mayLackReceipts: node.mayLackReceipts(header),
  });
  if (!isLazy) {
    const hashes = getHashes(header);
    return isFault(hashes)
      ? hashes
      : { ...facts(hashes.length), block: { value: header }, hashes: () => hashes };
  }
  const block = new RawBlockPart(raw, header, list);
  const transactionBytes = raw.toBytes(list);
  return { ...facts(count), header, transactionBytes, block, hashes: () => block.hashes(getHashes) };
}

type Json = Record<string, unknown>;

/** A block whose transactions are parsed when they are read. */
class RawBlockPart implements Part<Json> {
  readonly #result: RawResult;
  readonly #header: Json;
  readonly #list: Outlined;
  #block: { value: Json } | Fault | undefined;
  #hashes: readonly string[] | Fault | undefined;

  constructor(result: RawResult, header: Json, list: Outlined) {
    this.#result = result;
    this.#header = header;
    this.#list = list;
  }

  #read(): { value: Json } | Fault {
    if (this.#list.objects === 0) return { value: this.#header };
    const parsed = this.#result.readPart(this.#list);
    return isFault(parsed) ? parsed : { value: { ...this.#header, transactions: parsed.value } };
  }
  #whole(): { value: Json } | Fault {
    this.#block ??= this.#read();
    return this.#block;
  }

  get value(): Json {
    const block = this.#whole();
    if (isFault(block)) throw block.error;
    return block.value;
  }

  hashes(of: (block: Json) => readonly string[] | Fault): readonly string[] | Fault {
    const block = this.#whole();
    this.#hashes ??= isFault(block) ? block : of(block.value);
    return this.#hashes;
  }
}

/** The hashes of transactions; null if one has none. */
function transactionHashes(transactions: readonly unknown[], hashesOnly: boolean): string[] | null {
  const hashes: string[] = [];
  for (const transaction of transactions) {
    const isRecord = typeof transaction === 'object' && transaction !== null && 'hash' in transaction;
    const own = isRecord ? transaction.hash : hashesOnly ? transaction : null;
    if (typeof own !== 'string') return null;
    hashes.push(own);
  }
  return hashes;
}
