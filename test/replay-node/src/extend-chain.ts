/**
 * A longer chain out of a recording.
 *
 *   recording  r0 r1 … rm-1
 *   chain      r0 r1 … rm-1  r0' r1' … rm-1'  r0'' …
 *
 * A primed block keeps everything that its roots commit to (transactions, receipts, withdrawals) and gets a new
 * number, parent, time and total difficulty; its hash is computed again and goes wherever a hash stood. Blocks in
 * their recorded place stay as they are. Kept per block: its hash (and, if transactions vary, theirs).
 */
import { PackhouseError } from '@packhouse/runtime';
import { resizedBlock } from './block-size.js';
import { BlockTemplates } from './block-templates.js';
import { type PreparedHeader, prepareHeader } from './header-hash.js';
import { dataBytes, keccak, quantityBytes, toData, toQuantity } from './hex.js';
import type { RecordedBlock } from './recorded-block.js';
import type { ServedBlock, ServedChain, TransactionPlace } from './served-chain.js';
import { SLOT, signatureSlot, transactionHashSlot } from './text-template.js';
import { createVariedTransactions, type VariedTransactions } from './vary-transactions.js';

/** How a chain is extended. */
interface ExtendChainOptions {
  /** Number of blocks of the whole chain. */
  length: number;
  /** Number of its first block; default: the recording's own, or the one behind `after`. */
  startNumber?: number;
  /** Makes the chain another one: goes into each mixHash. Default: none, blocks in their recorded place stay as they are. */
  seed?: number;
  /** The block that the chain grows from: for a branch, or to follow on another chain. */
  after?: Pick<ServedBlock, 'number' | 'hash' | 'timestamp'>;
  /** Seconds between blocks beyond the recording; default 12. */
  blockSeconds?: number;
  /**
   * Gives every repeated transaction its own signature and so its own hash; default false: hashes repeat. The sender is
   * left as it was, so `proofs.senders` must be off for such a chain. Costs some 30 ms of hashing for a block of 150 transactions, once, when it or a later block is first asked for.
   */
  varyTransactions?: boolean;
}

const RECENT_BLOCKS = 32;

interface Repeated {
  templates: BlockTemplates;
  header: PreparedHeader;
  headerLength: number;
  difficulty: bigint;
}

/**
 * Extends a recording (contiguous blocks) to a chain of `length` blocks of which every proof holds.
 *
 * @throws PackhouseError RECORD_INVALID if a recorded header does not hash to its hash, USAGE for a bad length.
 */
export function extendChain(recording: readonly RecordedBlock[], options: ExtendChainOptions): ServedChain {
  const first = recording[0];
  if (first === undefined || !Number.isSafeInteger(options.length) || options.length < 1) {
    throw new PackhouseError({
      code: 'USAGE',
      message: `A chain of ${options.length} blocks cannot be made of ${recording.length} recorded ones.`,
      hint: 'Both must be at least 1.',
    });
  }
  return new ExtendedChain(recording, first, options);
}

class ExtendedChain implements ServedChain {
  readonly firstNumber: number;
  readonly lastNumber: number;
  private readonly repeated: Repeated[];
  /** How many blocks at the start are the recorded ones, untouched. */
  private readonly verbatim: number;
  private readonly hashes: Buffer;
  private readonly numbers = new Map<string, number>();
  private readonly varied: VariedTransactions | undefined;
  private readonly places = new Map<string, TransactionPlace>();
  private readonly recentValues = new Map<number, Buffer[]>();
  private known = 0;
  private readonly cycleDifficulty: bigint;

  constructor(
    private readonly recording: readonly RecordedBlock[],
    first: RecordedBlock,
    private readonly options: ExtendChainOptions,
  ) {
    this.firstNumber =
      options.startNumber ?? (options.after === undefined ? first.number : options.after.number + 1);
    this.lastNumber = this.firstNumber + options.length - 1;
    const moved =
      options.after !== undefined || options.seed !== undefined || this.firstNumber !== first.number;
    this.verbatim = moved ? 0 : linkedLength(recording);
    const policy = { place: true, transactions: options.varyTransactions ?? false };
    if (policy.transactions) this.varied = createVariedTransactions();
    else this.locateRecorded();
    this.repeated = recording.map((record) => {
      const header = prepareHeader(record.block);
      const encoded = header.encode({});
      assertHash(record, toData(keccak(encoded)));
      return {
        templates: new BlockTemplates(record, policy),
        header,
        headerLength: encoded.length,
        difficulty: BigInt((record.block.difficulty as string | undefined) ?? 0),
      };
    });
    this.cycleDifficulty = this.repeated.reduce((sum, { difficulty }) => sum + difficulty, 0n);
    this.hashes = Buffer.alloc(options.length * 32);
  }

  block(number: number): ServedBlock | undefined {
    const index = number - this.firstNumber;
    if (!Number.isInteger(index) || index < 0 || index >= this.options.length) return undefined;
    this.compute(index);
    const { templates } = this.source(index);
    const values = (): Buffer[] => this.knownValues(index);
    return {
      number,
      hash: this.hashAt(index),
      parentHash: this.parentAt(index),
      timestamp: this.timestampAt(index),
      transactionCount: templates.record.block.transactions.length,
      text: (part) => templates.get(part)?.served(values()),
      item: (part, at) => templates.get(part)?.renderItem(values(), at),
    };
  }

  toNumber(hash: string): number | undefined {
    return this.numbers.get(hash);
  }

  /** Where hashes repeat, the first block that holds the transaction. */
  locateTransaction(hash: string): TransactionPlace | undefined {
    return this.varied === undefined ? this.places.get(hash) : this.varied.locate(hash);
  }

  private source(index: number): Repeated {
    return this.repeated[index % this.repeated.length] as Repeated;
  }

  private hashAt(index: number): string {
    return `0x${this.hashes.toString('hex', index * 32, index * 32 + 32)}`;
  }

  private parentAt(index: number): string {
    if (index > 0) return this.hashAt(index - 1);
    return this.options.after?.hash ?? (this.recording[0] as RecordedBlock).block.parentHash;
  }

  private timestampAt(index: number): number {
    const { after, blockSeconds = 12 } = this.options;
    if (index < this.verbatim) return Number(this.source(index).templates.record.block.timestamp);
    if (this.verbatim > 0)
      return this.timestampAt(this.verbatim - 1) + (index - this.verbatim + 1) * blockSeconds;
    const start =
      after === undefined ? Number(this.recording[0]?.block.timestamp) : after.timestamp + blockSeconds;
    return start + index * blockSeconds;
  }

  private totalDifficultyAt(index: number): bigint {
    const count = this.repeated.length;
    let total = BigInt((this.recording[0]?.block.totalDifficulty as string | undefined) ?? 0);
    total += this.cycleDifficulty * BigInt(Math.floor(index / count));
    // The first block's own difficulty is in the total that it starts from.
    for (let at = 1; at <= index % count; at++) total += (this.repeated[at] as Repeated).difficulty;
    return total;
  }

  private mixHashAt(index: number): Uint8Array {
    const recorded = this.source(index).templates.record.block.mixHash;
    if (this.options.seed === undefined) return dataBytes(recorded);
    return keccak(Buffer.from(`${this.options.seed}:${index}:${recorded}`));
  }

  /** Hashes follow from one another, so all up to `index` are computed. */
  private compute(index: number): void {
    for (; this.known <= index; this.known++) {
      const at = this.known;
      const { record } = this.source(at).templates;
      this.varied?.add(this.firstNumber + at, record, at >= this.verbatim);
      const hash = at < this.verbatim ? dataBytes(record.block.hash) : keccak(this.headerAt(at));
      this.hashes.set(hash, at * 32);
      this.numbers.set(toData(hash), this.firstNumber + at);
    }
  }

  private headerAt(index: number): Buffer {
    const number = this.firstNumber + index;
    return this.source(index).header.encode({
      parentHash: dataBytes(this.parentAt(index)),
      number: quantityBytes(toQuantity(number)),
      timestamp: quantityBytes(toQuantity(this.timestampAt(index))),
      mixHash: this.mixHashAt(index),
      ...(this.varied === undefined ? {} : { transactionsRoot: this.varied.root(number) }),
    });
  }

  private locateRecorded(): void {
    this.recording.slice(0, this.options.length).forEach(({ block }, at) => {
      block.transactions.forEach(({ hash }, index) => {
        this.places.set(hash, { number: this.firstNumber + at, index });
      });
    });
  }

  /** The answers about a block are asked for one after the other: their values are kept for a while. */
  private knownValues(index: number): Buffer[] {
    let values = this.recentValues.get(index);
    if (values === undefined) {
      values = this.values(index);
      this.recentValues.set(index, values);
      if (this.recentValues.size > RECENT_BLOCKS) {
        this.recentValues.delete(this.recentValues.keys().next().value as number);
      }
    }
    return values;
  }

  private values(index: number): Buffer[] {
    const { templates, headerLength } = this.source(index);
    const { block } = templates.record;
    const values: Buffer[] = [];
    const set = (slot: number, text: string): void => {
      values[slot] = Buffer.from(text, 'latin1');
    };
    const number = this.firstNumber + index;
    const header = index < this.verbatim ? undefined : this.headerAt(index);
    set(SLOT.hash, this.hashAt(index));
    set(SLOT.parentHash, this.parentAt(index));
    set(SLOT.number, toQuantity(number));
    set(SLOT.numberDecimal, String(number));
    set(SLOT.timestamp, toQuantity(this.timestampAt(index)));
    set(
      SLOT.totalDifficulty,
      header === undefined ? String(block.totalDifficulty) : toQuantity(this.totalDifficultyAt(index)),
    );
    set(
      SLOT.size,
      toQuantity(resizedBlock(Number(block.size ?? 0), (header?.length ?? headerLength) - headerLength)),
    );
    set(SLOT.mixHash, header === undefined ? String(block.mixHash) : toData(this.mixHashAt(index)));
    if (this.varied !== undefined) {
      set(SLOT.transactionsRoot, toData(this.varied.root(number)));
      for (let at = 0; at < block.transactions.length; at++) {
        set(transactionHashSlot(at), this.varied.hash(number, at));
        set(signatureSlot(at), this.varied.signatureTail(number, at) ?? '');
      }
    }
    return values;
  }
}

/** How many blocks from the first on are numbered and linked one after the other. */
function linkedLength(recording: readonly RecordedBlock[]): number {
  let length = 1;
  while (length < recording.length) {
    const parent = recording[length - 1] as RecordedBlock;
    const child = recording[length] as RecordedBlock;
    if (child.number !== parent.number + 1 || child.block.parentHash !== parent.block.hash) break;
    length++;
  }
  return length;
}

function assertHash({ number, block }: RecordedBlock, computed: string): void {
  if (computed === block.hash) return;
  throw new PackhouseError({
    code: 'RECORD_INVALID',
    message: `Block ${number} cannot be given a new place: its header hashes to ${computed}, not to its hash ${block.hash}.`,
    hint: 'Extend only recordings whose headers have the fields of Ethereum.',
  });
}
