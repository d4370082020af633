import { dataBytes, quantityBytes } from './hex.js';
import type { RpcReceipt } from './recorded-block.js';
import { encodeRlp } from './rlp.js';

/** The consensus encoding of a receipt of type 0 to 4 (Yellow Paper 4.3.1, EIP-658, EIP-2718). */
export function encodeReceipt(receipt: RpcReceipt): Buffer {
  const type = Number(receipt.type ?? '0x0');
  const payload = encodeRlp([
    receipt.status == null ? dataBytes(receipt.root) : quantityBytes(receipt.status),
    quantityBytes(receipt.cumulativeGasUsed),
    dataBytes(receipt.logsBloom),
    receipt.logs.map((log) => [dataBytes(log.address), log.topics.map(dataBytes), dataBytes(log.data)]),
  ]);
  return type === 0 ? payload : Buffer.concat([Buffer.of(type), payload]);
}
