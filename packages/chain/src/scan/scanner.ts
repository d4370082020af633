import { type Kernel, openKernel } from './open-kernel.js';
import { TABLES_AT, writeTables } from './tables.js';

/** A part of a block that the scanner declined, or why it did not look at all. */
export type Declined = 'size' | 'transactions' | 'receipts' | 'traces' | 'fault';

/** A block's answers: each the bytes of one JSON array. */
interface ScannedParts {
  transactions: Uint8Array;
  receipts?: Uint8Array | undefined;
  traces?: Uint8Array | undefined;
}

/** What the header and the chain say; all texts canonical. */
interface ScanFacts {
  hash: string;
  /** QUANTITY, and the same in decimal. */
  number: string;
  decimal: string;
  timestamp: string;
  baseFee: string | null | undefined;
  chainId: number;
  /** Bits of CHECKS. */
  checks: number;
}

/** Bits of `checks`, as kernel/block.ts has them. */
export const CHECKS = {
  prices: 1,
  addresses: 2,
  logCalls: 4,
  sums: 8,
  receiptsGiven: 16,
  deposits: 32,
  amsterdam: 64,
} as const;

/** What was found; the texts are copies, the rest is valid until the next block is scanned. */
export interface Scanned {
  count: number;
  transactionsRoot: Uint8Array;
  receiptsRoot: Uint8Array;
  /** Of all logs. */
  bloom: Uint8Array;
  /** Bytes of the transactions in the block's RLP. */
  bodyLength: number;
  /** That the receipts used. */
  gas: number;
  hasDeposits: boolean;
  transactions: Buffer;
  receipts?: Buffer;
  logs?: Buffer;
  traces?: Buffer;
  isDeposit(index: number): boolean;
  /** Whether somebody signed the transaction: no deposit, and no signature of zeros. */
  isSigned(index: number): boolean;
  /** The transaction as the node wrote it. */
  transactionJson(index: number): string;
}

export interface Scanner {
  /** Scans one block. Never throws. */
  scan(parts: ScannedParts, facts: ScanFacts): Scanned | Declined;
}

/** What the regions of a block take for each byte of its answers, and beside them (kernel/transactions.ts and so on). */
const SHARES = { transactions: 14, receipts: 5, traces: 5 };
const BESIDE_BYTES = 65_536;
/** Blocks that would take more memory are declined; after one that took so much, the memory is given back. */
const MOST_BYTES = 512 * 1024 * 1024;
const KEPT_BYTES = 64 * 1024 * 1024;
const ZEROS = Buffer.alloc(64);
/** Offsets in the facts, and in what was found: kernel/block.ts. */
const FACTS = {
  number: 68,
  timestamp: 96,
  decimal: 124,
  chainId: 152,
  baseFee: 184,
  chain: 192,
  checks: 200,
};
const FOUND = { receiptsRoot: 32, bloom: 64, count: 320, body: 328, gas: 336, deposits: 344, texts: 352 };
const NO_NUMBER = 0xffff_ffff_ffff_ffffn;
/** Facts of a transaction: kernel/transactions.ts. */
const FACT_BYTES = 96;
const [KIND, START, END, SIGNED] = [28, 68, 72, 76] as const;
const DEPOSIT = 0x7e;
const MOST_TEXT = 22;

/** Creates a scanner. Throws where there is no WebAssembly or no SIMD. */
export function createScanner(): Scanner {
  const tables = writeTables();
  let kernel = open(tables);
  return {
    scan(parts, facts) {
      try {
        const scanned = scanWith(kernel, parts, facts);
        const bytes = kernel.bytes();
        // No code of the kernel writes there: if it did, nothing it said since would count.
        const isWhole = bytes.compare(tables, 0, tables.length, TABLES_AT, TABLES_AT + tables.length) === 0;
        if (!isWhole || bytes.length > KEPT_BYTES) kernel = open(tables);
        return isWhole ? scanned : 'fault';
      } catch {
        kernel = open(tables);
        return 'fault';
      }
    },
  };
}

function open(tables: Buffer): Kernel {
  const kernel = openKernel();
  kernel.reserve(0);
  kernel.bytes().set(tables, TABLES_AT);
  return kernel;
}

function scanWith(kernel: Kernel, parts: ScannedParts, facts: ScanFacts): Scanned | Declined {
  const { transactions, receipts, traces } = parts;
  const needed =
    BESIDE_BYTES +
    transactions.length * SHARES.transactions +
    (receipts?.length ?? 0) * SHARES.receipts +
    (traces?.length ?? 0) * SHARES.traces;
  if (needed > MOST_BYTES || kernel.reserve(needed) === 0) return 'size';
  const put = (answer: Uint8Array): number => {
    const at = kernel.region(answer.length + ZEROS.length);
    kernel.bytes().set(answer, at);
    kernel.bytes().set(ZEROS, at + answer.length);
    return at;
  };
  if (!writeFacts(kernel.bytes(), kernel.block(), facts)) return 'size';
  if (kernel.transactions(put(transactions), transactions.length) === 0) return 'transactions';
  if (receipts !== undefined && kernel.receipts(put(receipts), receipts.length) === 0) return 'receipts';
  if (traces !== undefined && kernel.traces(put(traces), traces.length) === 0) return 'traces';
  return readFound(kernel, parts);
}

/** Returns false if a text has no room. */
function writeFacts(bytes: Buffer, at: number, facts: ScanFacts): boolean {
  const { hash, number, decimal, timestamp, baseFee, chainId, checks } = facts;
  const quoted = {
    number: `"${number}"`,
    timestamp: `"${timestamp}"`,
    decimal,
    chainId: `"0x${chainId.toString(16)}"`,
  };
  bytes.write(`"${hash}"`, at, 'latin1');
  for (const [name, text] of Object.entries(quoted)) {
    const place = at + FACTS[name as keyof typeof quoted];
    if (text.length > MOST_TEXT) return false;
    bytes.writeUInt32LE(bytes.write(text, place + 4, 'latin1'), place);
  }
  const fee = baseFee == null ? NO_NUMBER : BigInt(baseFee);
  // Added to a tip it must not overflow; no chain has such a fee.
  if (baseFee != null && fee >= 1n << 60n) return false;
  bytes.writeBigUInt64LE(fee, at + FACTS.baseFee);
  bytes.writeBigUInt64LE(BigInt(chainId), at + FACTS.chain);
  bytes.writeUInt32LE(checks, at + FACTS.checks);
  return true;
}

function readFound(kernel: Kernel, { receipts, traces }: ScannedParts): Scanned {
  const bytes = kernel.bytes();
  const at = kernel.result();
  const facts = kernel.factsAt();
  const fact = (index: number, which: number): number =>
    bytes.readUInt32LE(facts + index * FACT_BYTES + which);
  const text = (which: number): Buffer => {
    const place = at + FOUND.texts + 8 * which;
    const [start, end] = [bytes.readUInt32LE(place), bytes.readUInt32LE(place + 4)];
    // Memory of its own, which can be handed to another thread.
    return Buffer.from((bytes.buffer as ArrayBuffer).slice(start, end));
  };
  return {
    count: bytes.readUInt32LE(at + FOUND.count),
    transactionsRoot: bytes.subarray(at, at + 32),
    receiptsRoot: bytes.subarray(at + FOUND.receiptsRoot, at + FOUND.receiptsRoot + 32),
    bloom: bytes.subarray(at + FOUND.bloom, at + FOUND.bloom + 256),
    bodyLength: Number(bytes.readBigUInt64LE(at + FOUND.body)),
    gas: Number(bytes.readBigUInt64LE(at + FOUND.gas)),
    hasDeposits: bytes.readUInt32LE(at + FOUND.deposits) === 1,
    transactions: text(0),
    ...(receipts === undefined ? {} : { receipts: text(1), logs: text(2) }),
    ...(traces === undefined ? {} : { traces: text(3) }),
    isDeposit: (index) => fact(index, KIND) === DEPOSIT,
    isSigned: (index) => fact(index, SIGNED) === 1,
    transactionJson: (index) => bytes.toString('latin1', fact(index, START), fact(index, END)),
  };
}
