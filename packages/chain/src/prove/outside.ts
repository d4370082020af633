import { encodeTransaction } from '../encode/encode-transaction.js';
import { equalsHex, toHex } from '../encode/keccak.js';
import type { TransactionRecord } from '../record/transaction.js';
import { getStateSyncs, HYPE_SYSTEM, isSystemAddress, TESTNET_HOLDERS } from '../rules/system-senders.js';
import { isUnsigned } from './check-chain.js';
import { type BlockInHand, disagree, disagreeOf, type Tools } from './tools.js';

/*
 * Transactions that the chain itself made and that are in no root. Nothing proves them, so all that their client writes
 * the same each time is checked: where they may be, who sent them, and their hash.
 */

/** Whether a transaction is in no root. Throws PROOF_FAILED if it claims to be what it cannot be. */
export function isOutside(tools: Tools, block: BlockInHand, tx: TransactionRecord, index: number): boolean {
  if (tx.kind !== 0) return false;
  return block.rules.outside === 'zeroPrice'
    ? isOfHyperCore(tools, block, tx, index)
    : isStateSync(tools, block, tx, index);
}

/** Says which gas the receipt of such a transaction must have; undefined if that is not known. */
export function gasOutside({ rules }: BlockInHand): string | undefined {
  return rules.outside === 'zeroPrice' ? '0x0' : undefined;
}

/**
 * The state sync of Polygon until it got a type: the last transaction of the first block of a sprint, empty, and with a
 * hash that follows from the block's number and hash (bor: core/types/bor_receipt.go, consensus/bor Finalize).
 */
function isStateSync(
  { keccak, policy }: Tools,
  block: BlockInHand,
  tx: TransactionRecord,
  index: number,
): boolean {
  const { record, number } = block;
  if (index !== record.transactions.length - 1 || !isUnsigned(tx)) return false;
  if (block.unproved.hashes === undefined) {
    const { sprint, typedFrom } = getStateSyncs(policy.chainId, number);
    checkSprint(block, index, sprint);
    if (number >= typedFrom) {
      const because = `a state sync has a type of its own since block ${typedFrom} (PIP-74)`;
      disagreeOf(block, index, 'type', tx.type, '0x7f', because);
    }
    const place = number.toString(16).padStart(16, '0');
    const hash = keccak.hash(Buffer.from(`${STATE_SYNC}${place}${record.hash.slice(2)}`, 'hex'));
    if (!equalsHex(hash, tx.hash)) {
      disagreeOf(
        block,
        index,
        'hash',
        tx.hash,
        toHex(hash),
        "the hash of a state sync follows from its block's",
      );
    }
  }
  for (const [name, expected] of Object.entries(EMPTY)) {
    const got = tx[name as keyof typeof EMPTY];
    if (got !== expected)
      disagreeOf(block, index, name, got, expected, 'a state sync is an empty transaction');
  }
  return true;
}

/** Checks the place of a state sync that has a type of its own: the root of its block cannot be recomputed. */
export function checkTypedSync(
  { policy }: Tools,
  block: BlockInHand,
  tx: TransactionRecord,
  index: number,
): void {
  if (block.rules.outside !== 'stateSync' || tx.type !== '0x7f') return;
  const { sprint, typedFrom } = getStateSyncs(policy.chainId, block.number);
  checkSprint(block, index, sprint);
  if (block.number < typedFrom && typedFrom !== Number.POSITIVE_INFINITY) {
    disagreeOf(
      block,
      index,
      'type',
      tx.type,
      '0x0',
      `a state sync has no type before block ${typedFrom} (PIP-74)`,
    );
  }
  const last = block.record.transactions.length - 1;
  if (index !== last) {
    const because = 'a state sync is the last transaction of its block';
    disagreeOf(block, index, 'type', tx.type, 'another type', because);
  }
}

function checkSprint(block: BlockInHand, index: number, sprint: number): void {
  if (block.number % sprint === 0) return;
  const because = `only the first block of a sprint of ${sprint} blocks has a state sync`;
  disagree(block, `transactions[${index}]`, 'a state sync', 'none', because);
}

const NO_ADDRESS = `0x${'0'.repeat(40)}`;
const STATE_SYNC = Buffer.from('matic-bor-receipt-').toString('hex');
const EMPTY = {
  to: NO_ADDRESS,
  from: NO_ADDRESS,
  value: '0x0',
  input: '0x',
  gas: '0x0',
  gasPrice: '0x0',
  nonce: '0x0',
  v: '0x0',
} as const;

/**
 * A transaction that HyperCore made: of price 0, before all others, and from a system address. One of another sender is
 * like any other, and must be in the root.
 */
function isOfHyperCore(tools: Tools, block: BlockInHand, tx: TransactionRecord, index: number): boolean {
  if (tx.gasPrice !== '0x0' || tx.to === null || block.outside.size !== index) return false;
  if (!isSystemAddress(tx.from) && !isHolder(tools, block, tx)) return false;
  if (block.unproved.hashes === undefined && tx.r === ONE && BigInt(tx.s!) !== 0n) {
    checkMadeSignature(tools, block, tx, index);
  }
  return true;
}

function isHolder({ policy }: Tools, { number }: BlockInHand, { to }: TransactionRecord): boolean {
  const { chainId, fromBlock, token } = TESTNET_HOLDERS;
  return policy.chainId === chainId && number >= fromBlock && to === token;
}

const ONE = `0x${'1'.padStart(64, '0')}`;
/** `s` in place of the address 1, which would look like that of HYPE. */
const ESCAPED_ONE = (1n << 160n) | 1n;

/**
 * nanoreth makes a signature for such a transaction: `r` is 1, and `s` names the sender (1 is that of HYPE), so its hash
 * follows from its fields (src/node/primitives/transaction.rs, src/node/types/reth_compat.rs).
 */
function checkMadeSignature(tools: Tools, block: BlockInHand, tx: TransactionRecord, index: number): void {
  const s = BigInt(tx.s!);
  const named = s === ESCAPED_ONE ? 1n : s;
  const sender = s === 1n ? HYPE_SYSTEM : `0x${named.toString(16).padStart(40, '0')}`;
  if (tx.from !== sender)
    disagreeOf(block, index, 'from', tx.from, sender, "the system's signature names it");
  const { rlp, keccak } = tools;
  encodeTransaction(rlp, tx);
  const hash = keccak.hash(rlp.item(rlp.count - 1));
  rlp.drop();
  if (equalsHex(hash, tx.hash)) return;
  const because = 'it is the hash of the transaction that was given';
  disagreeOf(block, index, 'hash', tx.hash, toHex(hash), because);
}
