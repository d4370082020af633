import { CHECKS, type Declined, type Scanned, type Scanner } from '@packhouse/kernels';
import { equalsHex } from '../encode/keccak.js';
import { blockText } from '../record/block.js';
import type { Raw } from '../record/reader.js';
import { hasNormalErrors } from '../record/trace-errors.js';
import type { Rules } from '../rules/rule-set.js';
import { checkTotal } from './check-receipt.js';
import { checkFootprint } from './check-type.js';
import { noteUnchecked, openBlock, toSummary } from './prove-block.js';
import { proveFrame } from './prove-frame.js';
import { toSenderCheck } from './prove-senders.js';
import type { BlockSummary, ProofPolicy, SenderCheck } from './proved-block.js';
import type { BlockInHand, Tools } from './tools.js';

/** A node's answers for one block, of which only the header was parsed. */
export interface RawBlock {
  /** The block's object with no transactions in its array. */
  header: Raw;
  /** Bytes of the array of transactions, of the receipts and of the traces, if they are requested. */
  transactions: Uint8Array;
  receipts?: Uint8Array;
  traces?: Uint8Array;
}

/** A block that was proved from its bytes. Its texts are ASCII. */
export interface ScannedBlock extends BlockSummary {
  /** What is left to prove its senders; `proofs` has none of these. Absent: the policy proves none. */
  senders?: SenderCheck;
  transactionCount: number;
  texts: {
    blockHead: string;
    transactions: Buffer;
    blockTail: string;
    receipts?: Buffer;
    logs?: Buffer;
    traces?: Buffer;
  };
}

/** Why a block was not proved from its bytes; `policy` and `rules`: others than the scanner knows. */
export type DeclineReason = Declined | 'policy' | 'rules' | 'header' | 'unavailable';

/**
 * Proves a block from the bytes of its answers, or declines it: then proveBlock and proveTraces decide. It never accepts
 * what they refuse, and its texts are theirs. Never throws.
 */
export function proveRaw(
  tools: Tools,
  scanner: Scanner,
  raw: RawBlock,
  suspected = false,
): ScannedBlock | DeclineReason {
  if (!isUsual(tools.policy)) return 'policy';
  try {
    const { block, header } = openBlock(tools, raw.header);
    if (block.notProved.size > 0 || block.checks.prices === 'base') return 'rules';
    const scanned = scan(scanner, block, tools.policy, raw);
    if (typeof scanned === 'string') return scanned;
    if (mayBeOutside(block.rules, scanned.transactions)) return 'rules';
    // The scanner knows the frequent words only.
    if (scanned.traces !== undefined && !hasNormalErrors(scanned.traces)) return 'traces';
    const { record } = block;
    if (!equalsHex(scanned.transactionsRoot, record.transactionsRoot)) return 'transactions';
    // On the OP stack, withdrawals that are left out are none, which completeBlock sees by the first transaction.
    const hasDeposits = scanned.deposits > 0;
    if (hasDeposits && record.withdrawals === undefined && record.withdrawalsRoot != null) return 'header';
    block.hasDeposits = hasDeposits;
    const proofs = proveFrame(tools, block, raw.header, {
      header: header.length,
      transactions: scanned.bodyLength,
    });
    if (raw.receipts !== undefined) {
      if (!equalsHex(scanned.receiptsRoot, record.receiptsRoot)) return 'receipts';
      if (!equalsHex(scanned.bloom, record.logsBloom)) return 'receipts';
      checkTotal(block, scanned.gas);
      if (block.hasDeposits) checkFootprint(block, scanned.footprint);
      proofs.add('receiptsRoot').add('logsBloom');
    } else if (scanned.count === 0) {
      // What a block without transactions has instead of receipts is checked by the prover.
      return 'receipts';
    }
    if (raw.traces !== undefined) {
      proofs.add('traces');
      if (scanned.count === 0 || (raw.receipts !== undefined && block.checks.logs))
        proofs.add('logAddresses');
    }
    noteUnchecked(block, scanned);
    return {
      ...toSummary(block, header.unknownFields, proofs),
      ...(tools.policy.senders === 'off' ? {} : { senders: senderCheck(tools, scanned, suspected) }),
      transactionCount: scanned.count,
      texts: toTexts(block, scanned),
    };
  } catch {
    return 'header';
  }
}

/** Whether all is recomputed, of a chain that is known, and written as usual. */
function isUsual({ chainId, header, transactions, receipts, extraFields, derived }: ProofPolicy): boolean {
  const recomputes = [header, transactions, receipts].every((part) => part === 'recompute');
  return chainId !== undefined && recomputes && extraFields === 'keep' && derived !== 'leave';
}

function scan(scanner: Scanner, block: BlockInHand, policy: ProofPolicy, raw: RawBlock): Scanned | Declined {
  const { checks, number, record, rules } = block;
  const bits =
    (checks.prices === 'equal' ? CHECKS.prices : 0) |
    (checks.addresses ? CHECKS.addresses : 0) |
    (checks.sums ? CHECKS.sums : 0) |
    (raw.receipts === undefined ? 0 : CHECKS.receiptsGiven) |
    (raw.receipts !== undefined && checks.logs ? CHECKS.logCalls : 0) |
    (rules.types.get('0x7e') === 'deposit' ? CHECKS.deposits : 0) |
    (record.blockAccessListHash == null ? 0 : CHECKS.amsterdam) |
    (policy.senders === 'off' ? 0 : CHECKS.senders);
  return scanner.scan(raw, {
    hash: record.hash,
    number: record.number,
    decimal: String(number),
    timestamp: record.timestamp,
    baseFee: record.baseFeePerGas,
    blobPrice: block.blobPrice,
    chainId: policy.chainId!,
    checks: bits,
  });
}

const NO_SIGNATURE = `"r":"0x${'0'.repeat(64)}","s":"0x${'0'.repeat(64)}"`;
/** The price of the first transaction is within this many bytes, whose names and addresses have their lengths. */
const FIRST_BYTES = 512;

/** Whether the chain itself may have made one of these transactions, which is in no root: only the prover knows. */
function mayBeOutside({ outside }: Rules, transactions: Buffer): boolean {
  if (outside === 'stateSync') return transactions.includes(NO_SIGNATURE);
  return outside === 'zeroPrice' && transactions.subarray(0, FIRST_BYTES).includes('"gasPrice":"0x0"');
}

function senderCheck(
  tools: Tools,
  { count, deposits, signatures }: Scanned,
  suspected: boolean,
): SenderCheck {
  return toSenderCheck(tools, { signatures, unproved: count - deposits, suspected });
}

function toTexts(
  block: BlockInHand,
  { transactions, receipts, logs, traces }: Scanned,
): ScannedBlock['texts'] {
  const { head, tail } = blockText(block.record);
  return {
    blockHead: head,
    transactions,
    blockTail: tail,
    ...(receipts === undefined ? {} : { receipts }),
    ...(logs === undefined ? {} : { logs }),
    ...(traces === undefined ? {} : { traces }),
  };
}
