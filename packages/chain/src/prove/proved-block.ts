/** All proofs, in the order of their bits in the database (bit 0 = headerHash). */
export const PROOFS = [
  'headerHash',
  'parentLink',
  'transactionsRoot',
  'receiptsRoot',
  'logsBloom',
  'withdrawalsRoot',
  'consistency',
  'traces',
  'senders',
  'sampledSenders',
  'logAddresses',
] as const;

/** A proof that a block can pass. */
export type Proof = (typeof PROOFS)[number];

/** `recompute`: a hash or root must equal what the data gives. `trust`: it is taken as the node says it. */
type Recomputed = 'recompute' | 'trust';

/** How a network's blocks are proved and written. */
export interface ProofPolicy {
  /** Decides the rules of the chain; a transaction that was signed for another chain is refused. Absent: any chain. */
  chainId?: number;
  /** Name of a rule set that replaces the one of `chainId`. */
  rules?: string;
  /** The block's hash, from its header. */
  header: Recomputed;
  /** Hashes and root of the transactions. */
  transactions: Recomputed;
  /** Root of the receipts and blooms of their logs. */
  receipts: Recomputed;
  /** Whose senders are recovered from their signatures (slow). */
  senders: 'off' | 'sample' | 'all';
  /** Fields that `record/fields.ts` does not name: kept in alphabetical order, or dropped. */
  extraFields: 'keep' | 'drop';
  /**
   * Fields that are absent, and a `size` that is wrong, though they follow from others: `compute` (default) writes what
   * they are; `leave` leaves out what is absent and refuses what is wrong, to compare texts that were written before.
   */
  derived?: 'compute' | 'leave';
}

/**
 * Canonical JSON of one block, each piece written once. ASCII: `latin1` turns it into bytes.
 *
 * The record text of `blocks` is `blockHead + transactions + blockTail`; that of every other kind is the piece
 * itself, an array.
 */
export interface RecordTexts {
  /** The block object up to and including `"transactions":`. */
  blockHead: string;
  /** The array of transaction objects. */
  transactions: string;
  /** The rest of the block object, from the comma (or brace) after the transactions. */
  blockTail: string;
  /** Present if receipts were given. */
  receipts?: string;
  /** Present if receipts were given. */
  logs?: string;
}

/** The facts of one transaction that trace checks need. */
export interface TransactionFacts {
  hash: string;
  from: string;
  /** null for a contract creation. */
  to: string | null;
  value: string;
  /** The created contract, if receipts were given. */
  contractAddress?: string | null;
  /** Absent if it need not be checked. */
  input?: string;
  /** EIP-2718 type as QUANTITY; absent for a legacy transaction of a node that writes none. */
  type?: string;
  /** From the receipt: true success, false failure, absent if the receipt has `root` or was not given. */
  success?: boolean;
  /** Addresses that logged, each once, which must have been called; absent if that cannot be said. */
  logAddresses?: readonly string[];
}

/** A proof that was not made for a block. */
export interface NotProved {
  proof: Proof;
  because: string;
}

/** What is said of a block that passed its proofs. */
export interface BlockSummary {
  number: number;
  /** `0x` + 64 lower-case hex digits. */
  hash: string;
  parentHash: string;
  /** Unix seconds. */
  timestamp: number;
  difficulty: string;
  totalDifficulty: string | null | undefined;
  proofs: Proof[];
  /** What of this block is not proved, and why in one sentence each; empty where Ethereum's rules hold. */
  notProved: readonly NotProved[];
  /** Header fields that no table names and that the hash needed. */
  unknownFields: readonly string[];
  /** Parts that the node left out: the header says that the block has them, or another node may have them. */
  missing: readonly ('withdrawals' | 'receipts')[];
  /** Fields that were wrong and were written as they are. */
  corrected: readonly string[];
}

/** Senders of a block that are still to be recovered from their signatures. */
export interface SenderCheck {
  /** See signature-rows.ts. */
  rows: Uint8Array;
  /** What is proved once none of them is false. */
  proofs: readonly Proof[];
}

/** A block that passed its proofs, with its texts. */
export interface ProvedBlock extends BlockSummary {
  /** What is left to prove its senders, if that was put off; `proofs` has none of these. */
  senders?: SenderCheck;
  transactions: TransactionFacts[];
  /**
   * The sender that this transaction's signature decides; null if the signature is invalid, undefined if it has none.
   * Costs a recovery, so only for a transaction whose sender is contradicted.
   */
  getSigner(index: number): string | null | undefined;
  texts: RecordTexts;
}
