import * as L from './layout.js';
import { openScanKernel, type ScanKernel } from './open-scan.js';

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
  /** QUANTITY; undefined if it does not follow. */
  blobPrice?: string | undefined;
  chainId: number;
  /** Bits of CHECKS. */
  checks: number;
}

/** Bits of `checks`. */
export const CHECKS = {
  prices: L.CHECK_PRICES,
  addresses: L.CHECK_ADDRESSES,
  logCalls: L.CHECK_LOG_CALLS,
  sums: L.CHECK_SUMS,
  receiptsGiven: L.CHECK_RECEIPTS_GIVEN,
  deposits: L.CHECK_DEPOSITS,
  amsterdam: L.CHECK_AMSTERDAM,
  senders: L.CHECK_SENDERS,
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
  /** Rows of SIGNATURE_BYTES (layout.ts), of the transactions that somebody signed; none if they are not asked for. */
  signatures: Buffer;
  /** Sum of `blobGasUsed` beside `daFootprintGasScalar`; undefined if no receipt has both. */
  footprint: number | undefined;
  transactions: Buffer;
  receipts?: Buffer;
  logs?: Buffer;
  traces?: Buffer;
  isDeposit(index: number): boolean;
}

export interface Scanner {
  /** Scans one block. Never throws. */
  scan(parts: ScannedParts, facts: ScanFacts): Scanned | Declined;
}

/** What the regions of a block take for each byte of its answers, and beside them (kernel/scan/transactions.ts and so on). */
const SHARES = { transactions: 15, receipts: 5, traces: 5 };
const BESIDE_BYTES = 65_536;
/** Blocks that would take more memory are declined; after one that took so much, the memory is given back. */
const MAX_BYTES = 512 * 1024 * 1024;
const KEPT_BYTES = 64 * 1024 * 1024;
const ZEROS = Buffer.alloc(L.SLACK_BYTES);
const NO_NUMBER = 0xffff_ffff_ffff_ffffn;
const MAX_TEXT = 22;

/** Creates a scanner of what the tables name (writeTables). Throws where there is no WebAssembly or no SIMD. */
export function createScanner(tables: Buffer): Scanner {
  let kernel = open(tables);
  return {
    scan(parts, facts) {
      try {
        const scanned = scanWith(kernel, parts, facts);
        const bytes = kernel.bytes();
        // No code of the kernel writes there: if it did, nothing it said since would count.
        const isWhole =
          bytes.compare(tables, 0, tables.length, L.TABLES_AT, L.TABLES_AT + tables.length) === 0;
        if (!isWhole || bytes.length > KEPT_BYTES) kernel = open(tables);
        return isWhole ? scanned : 'fault';
      } catch {
        kernel = open(tables);
        return 'fault';
      }
    },
  };
}

function open(tables: Buffer): ScanKernel {
  const kernel = openScanKernel();
  kernel.reserve(0);
  kernel.bytes().set(tables, L.TABLES_AT);
  return kernel;
}

function scanWith(kernel: ScanKernel, parts: ScannedParts, facts: ScanFacts): Scanned | Declined {
  const { transactions, receipts, traces } = parts;
  const needed =
    BESIDE_BYTES +
    transactions.length * SHARES.transactions +
    (receipts?.length ?? 0) * SHARES.receipts +
    (traces?.length ?? 0) * SHARES.traces;
  if (needed > MAX_BYTES || kernel.reserve(needed) === 0) return 'size';
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
  const { hash, number, decimal, timestamp, baseFee, blobPrice, chainId, checks } = facts;
  const texts = [
    [L.FACT_NUMBER, `"${number}"`],
    [L.FACT_TIMESTAMP, `"${timestamp}"`],
    [L.FACT_DECIMAL, decimal],
    [L.FACT_CHAIN_ID, `"0x${chainId.toString(16)}"`],
    [L.FACT_BLOB_PRICE, blobPrice === undefined ? '' : `"${blobPrice}"`],
  ] as const;
  bytes.write(`"${hash}"`, at, 'latin1');
  for (const [offset, text] of texts) {
    const place = at + offset;
    if (text.length > MAX_TEXT) return false;
    bytes.writeUInt32LE(bytes.write(text, place + 4, 'latin1'), place);
  }
  const fee = baseFee == null ? NO_NUMBER : BigInt(baseFee);
  // Added to a tip it must not overflow; no chain has such a fee.
  if (baseFee != null && fee >= 1n << 60n) return false;
  bytes.writeBigUInt64LE(fee, at + L.FACT_BASE_FEE);
  bytes.writeBigUInt64LE(BigInt(chainId), at + L.FACT_CHAIN);
  bytes.writeUInt32LE(checks, at + L.FACT_CHECKS);
  return true;
}

function readFound(kernel: ScanKernel, { receipts, traces }: ScannedParts): Scanned {
  const bytes = kernel.bytes();
  const at = kernel.result();
  const facts = kernel.factsAt();
  const fact = (index: number, which: number): number =>
    bytes.readUInt32LE(facts + index * L.TRANSACTION_BYTES + which);
  // Memory of its own, which can be handed to another thread.
  const copyAt = (place: number): Buffer => {
    const [start, end] = [bytes.readUInt32LE(place), bytes.readUInt32LE(place + 4)];
    return Buffer.from((bytes.buffer as ArrayBuffer).slice(start, end));
  };
  const text = (which: number): Buffer => copyAt(at + L.FOUND_TEXTS + 8 * which);
  const footprint = receipts === undefined ? NO_NUMBER : bytes.readBigUInt64LE(at + L.FOUND_FOOTPRINT);
  return {
    count: bytes.readUInt32LE(at + L.FOUND_COUNT),
    transactionsRoot: bytes.subarray(at, at + 32),
    receiptsRoot: bytes.subarray(at + L.FOUND_RECEIPTS_ROOT, at + L.FOUND_RECEIPTS_ROOT + 32),
    bloom: bytes.subarray(at + L.FOUND_BLOOM, at + L.FOUND_BLOOM + 256),
    bodyLength: Number(bytes.readBigUInt64LE(at + L.FOUND_BODY)),
    gas: Number(bytes.readBigUInt64LE(at + L.FOUND_GAS)),
    hasDeposits: bytes.readUInt32LE(at + L.FOUND_DEPOSITS) === 1,
    signatures: copyAt(at + L.FOUND_SIGNATURES),
    footprint: footprint === NO_NUMBER ? undefined : Number(footprint),
    transactions: text(0),
    ...(receipts === undefined ? {} : { receipts: text(1), logs: text(2) }),
    ...(traces === undefined ? {} : { traces: text(3) }),
    isDeposit: (index) => fact(index, L.TRANSACTION_KIND) === L.KIND_DEPOSIT,
  };
}
