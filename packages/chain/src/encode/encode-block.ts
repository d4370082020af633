import type { BlockRecord, Withdrawal } from '../record/block.js';
import type { Optional } from '../record/reader.js';
import { hasRoot, type ReceiptRecord } from '../record/receipt.js';
import { DEPOSIT } from '../record/transaction.js';
import type { HeaderField, HeaderPart } from '../rules/rule-set.js';
import type { RlpBuffer } from './rlp-buffer.js';

/** Adds RLP(header) as an item; keccak of it is the block's hash. Each field is written if the block has it. */
export function encodeHeader(rlp: RlpBuffer, block: BlockRecord, header: readonly HeaderPart[]): void {
  const payload = rlp.beginItem();
  for (const part of header) writePart(rlp, block, part);
  rlp.endItem(payload);
}

function writePart(rlp: RlpBuffer, block: BlockRecord, part: HeaderPart): void {
  if ('list' in part) {
    if (!isPresent(block, part)) return;
    const list = rlp.beginList();
    for (const inner of part.list) writePart(rlp, block, inner);
    rlp.endList(list);
    return;
  }
  const value = getField(block, part);
  if (value == null) return;
  if (isNumber(part)) rlp.quantity(value);
  else rlp.data(value);
}

function isPresent(block: BlockRecord, part: HeaderPart): boolean {
  return 'list' in part ? part.list.some((inner) => isPresent(block, inner)) : getField(block, part) != null;
}

function isNumber({ form }: HeaderField): boolean {
  return form === 'quantity' || form === 'integer' || form === 'step';
}

/** A field's canonical hex. Ethereum's fields are the record's own, under the same names. */
function getField(block: BlockRecord, { name, of }: HeaderField): Optional<string> {
  if (of !== undefined) return block.others.get(`${of}.${name}`);
  return block.others.get(name) ?? block[name as EthereumField];
}

type EthereumField = 'number' | 'baseFeePerGas' | 'slotNumber';

/** Adds a withdrawal's encoding as an item: the leaf of the withdrawals' trie (EIP-4895). */
export function encodeWithdrawal(rlp: RlpBuffer, withdrawal: Withdrawal): void {
  const payload = rlp.beginItem();
  rlp.quantity(withdrawal.index);
  rlp.quantity(withdrawal.validatorIndex);
  rlp.data(withdrawal.address);
  rlp.quantity(withdrawal.amount);
  rlp.endItem(payload);
}

/**
 * Adds a receipt's encoding as an item: the leaf of the receipts' trie.
 *
 * Before Byzantium the state root takes the place of the status (EIP-658). A deposit's nonce and version are encoded
 * only if there is a version: between Regolith and Canyon nodes return the nonce, but no header commits to it. A fee of
 * Celo that was paid in another currency adds its base fee (`withBaseFee`).
 */
export function encodeReceipt(
  rlp: RlpBuffer,
  receipt: ReceiptRecord,
  kind: number,
  withBaseFee = false,
): void {
  const payload = rlp.beginItem();
  if (hasRoot(receipt)) rlp.data(receipt.root!);
  else rlp.quantity(receipt.status!);
  rlp.quantity(receipt.cumulativeGasUsed);
  rlp.data(receipt.logsBloom);
  const logs = rlp.beginList();
  for (const { address, topics, data } of receipt.logs) {
    const log = rlp.beginList();
    rlp.data(address);
    const list = rlp.beginList();
    for (const topic of topics) rlp.data(topic);
    rlp.endList(list);
    rlp.data(data);
    rlp.endList(log);
  }
  rlp.endList(logs);
  if (kind === DEPOSIT && receipt.depositReceiptVersion != null) {
    rlp.quantity(receipt.depositNonce ?? '0x0');
    rlp.quantity(receipt.depositReceiptVersion);
  }
  if (withBaseFee && receipt.baseFee != null) rlp.quantity(receipt.baseFee);
  rlp.endItem(payload, kind);
}
