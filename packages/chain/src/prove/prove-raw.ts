import { equalsHex } from '../encode/keccak.js';
import { blockText } from '../record/block.js';
import type { Raw } from '../record/reader.js';
import { readTransaction } from '../record/transaction.js';
import { CHECKS, type Declined, type Scanned, type Scanner } from '../scan/scanner.js';
import { checkTotal } from './check-receipt.js';
import { completeTransaction } from './complete.js';
import { openBlock, proveFrame, summaryOf } from './prove-block.js';
import { proveSenders } from './prove-senders.js';
import type { BlockSummary, Proof, ProofPolicy } from './proved-block.js';
import type { BlockInHand, Tools } from './tools.js';

/** A node's answers for one block, of which only the header was parsed. */
export interface RawBlock {
  /** The block's object with no transactions in its array. */
  header: Raw;
  /** Bytes of the array of transactions, of the receipts (if they are wanted), of the traces (if they are). */
  transactions: Uint8Array;
  receipts?: Uint8Array;
  traces?: Uint8Array;
}

/** A block that was proved from its bytes. Its texts are ASCII. */
export interface ScannedBlock extends BlockSummary {
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
export function proveRaw(tools: Tools, scanner: Scanner, raw: RawBlock): ScannedBlock | DeclineReason {
  if (!isUsual(tools.policy)) return 'policy';
  try {
    const { block, header } = openBlock(tools, raw.header);
    if (block.notProved.size > 0 || block.rules.outside !== 'none') return 'rules';
    const scanned = scan(scanner, block, tools.policy.chainId!, raw);
    if (typeof scanned === 'string') return scanned;
    const { record } = block;
    if (!equalsHex(scanned.transactionsRoot, record.transactionsRoot)) return 'transactions';
    // On the OP stack, withdrawals that are left out are none, which completeBlock sees by the first transaction.
    if (scanned.hasDeposits && record.withdrawals === undefined && record.withdrawalsRoot != null)
      return 'header';
    block.hasDeposits = scanned.hasDeposits;
    const proofs = proveFrame(tools, block, raw.header, {
      header: header.length,
      transactions: scanned.bodyLength,
    });
    if (raw.receipts !== undefined) {
      if (!equalsHex(scanned.receiptsRoot, record.receiptsRoot)) return 'receipts';
      if (!equalsHex(scanned.bloom, record.logsBloom)) return 'receipts';
      checkTotal(block, scanned.gas);
      proofs.add('receiptsRoot').add('logsBloom');
    } else if (scanned.count === 0) {
      // What a block without transactions has instead of receipts is checked by the prover.
      return 'receipts';
    }
    for (const proof of senderProofs(tools, block, scanned)) proofs.add(proof);
    if (raw.traces !== undefined) {
      proofs.add('traces');
      if (scanned.count === 0 || (raw.receipts !== undefined && block.checks.logs))
        proofs.add('logAddresses');
    }
    return {
      ...summaryOf(block, header.unknownFields, proofs),
      transactionCount: scanned.count,
      texts: textsOf(block, scanned),
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

function scan(scanner: Scanner, block: BlockInHand, chainId: number, raw: RawBlock): Scanned | Declined {
  const { checks, number, record, rules } = block;
  const bits =
    (checks.prices ? CHECKS.prices : 0) |
    (checks.addresses ? CHECKS.addresses : 0) |
    (checks.sums ? CHECKS.sums : 0) |
    (raw.receipts === undefined ? 0 : CHECKS.receiptsGiven) |
    (raw.receipts !== undefined && checks.logs ? CHECKS.logCalls : 0) |
    (rules.types.get('0x7e') === 'deposit' ? CHECKS.deposits : 0) |
    (record.blockAccessListHash == null ? 0 : CHECKS.amsterdam);
  return scanner.scan(raw, {
    hash: record.hash,
    number: record.number,
    decimal: String(number),
    timestamp: record.timestamp,
    baseFee: record.baseFeePerGas,
    chainId,
    checks: bits,
  });
}

function senderProofs(tools: Tools, block: BlockInHand, scanned: Scanned): Proof[] {
  const { policy } = tools;
  if (policy.senders === 'off') return [];
  const { reader, record, rules } = block;
  const all = Array.from({ length: scanned.count }, (_, place) => place);
  return proveSenders(tools, block, {
    unproved: all.filter((place) => !scanned.isDeposit(place)).length,
    places: all.filter((place) => scanned.isSigned(place)),
    recordAt(place) {
      const given: unknown = JSON.parse(scanned.transactionJson(place));
      return readTransaction(reader, completeTransaction(given, policy.chainId), record, rules.types);
    },
  });
}

function textsOf(
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
