import type { LogRecord } from '../read/log.js';
import { stringArray } from './member.js';

/** Canonical JSON of a log. */
export function logText(log: LogRecord): string {
  return (
    `{"removed":${log.removed},"logIndex":"${log.logIndex}","transactionIndex":"${log.transactionIndex}"` +
    `,"transactionHash":"${log.transactionHash}","blockHash":"${log.blockHash}"` +
    `,"blockNumber":"${log.blockNumber}","address":"${log.address}","data":"${log.data}"` +
    `,"topics":${stringArray(log.topics)}${log.more}}`
  );
}
