import type { TransactionRecord } from '../read/transaction.js';
import { jsonMember, member, nullable } from './member.js';

/** The members that begin each transaction of a block, up to its sender; one flat string. */
export function transactionHead(blockHash: string, blockNumber: string): string {
  return ['{"blockHash":"', blockHash, '","blockNumber":"', blockNumber, '","from":"'].join('');
}

/** Canonical JSON of a transaction; `head` is the same for all of a block. */
export function transactionText(
  tx: TransactionRecord,
  head = transactionHead(tx.blockHash, tx.blockNumber),
): string {
  const accessList = tx.accessList === null ? 'null' : tx.accessList?.text;
  const isSystemTx = tx.isSystemTx === undefined ? undefined : String(tx.isSystemTx);
  return (
    `${head}${tx.from}","gas":"${tx.gas}"` +
    member('gasPrice', tx.gasPrice) +
    `,"hash":"${tx.hash}","input":"${tx.input}"` +
    member('nonce', tx.nonce) +
    `,"to":${nullable(tx.to)},"transactionIndex":"${tx.transactionIndex}","value":"${tx.value}"` +
    member('v', tx.v) +
    member('r', tx.r) +
    member('s', tx.s) +
    member('type', tx.type) +
    member('chainId', tx.chainId) +
    jsonMember('accessList', accessList) +
    member('sourceHash', tx.sourceHash) +
    member('mint', tx.mint) +
    jsonMember('isSystemTx', isSystemTx) +
    `${tx.more}}`
  );
}
