import type { BlockRecord } from '../read/block.js';
import type { RlpBuffer } from './rlp-buffer.js';

/**
 * Adds RLP(header) as an item; keccak of it is the block's hash.
 *
 * The 15 fields of Frontier, then those that forks put behind them, each where the node has it: EIP-1559 (London),
 * EIP-4895 (Shanghai), EIP-4844 and EIP-4788 (Cancun), EIP-7685 (Prague; Osaka adds none).
 */
export function encodeHeader(rlp: RlpBuffer, block: BlockRecord): void {
  const payload = rlp.beginItem();
  rlp.data(block.parentHash);
  rlp.data(block.sha3Uncles);
  rlp.data(block.miner);
  rlp.data(block.stateRoot);
  rlp.data(block.transactionsRoot);
  rlp.data(block.receiptsRoot);
  rlp.data(block.logsBloom);
  rlp.quantity(block.difficulty);
  rlp.quantity(block.number);
  rlp.quantity(block.gasLimit);
  rlp.quantity(block.gasUsed);
  rlp.quantity(block.timestamp);
  rlp.data(block.extraData);
  if (block.mixHash != null) rlp.data(block.mixHash);
  if (block.nonce != null) rlp.data(block.nonce);
  if (block.baseFeePerGas != null) rlp.quantity(block.baseFeePerGas);
  if (block.withdrawalsRoot != null) rlp.data(block.withdrawalsRoot);
  if (block.blobGasUsed != null) rlp.quantity(block.blobGasUsed);
  if (block.excessBlobGas != null) rlp.quantity(block.excessBlobGas);
  if (block.parentBeaconBlockRoot != null) rlp.data(block.parentBeaconBlockRoot);
  if (block.requestsHash != null) rlp.data(block.requestsHash);
  rlp.endItem(payload);
}
