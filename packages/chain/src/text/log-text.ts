import type { LogRecord } from '../read/log.js';
import { stringArray } from './member.js';

/** The members of a log between its index and its address: the same for all of a transaction; one flat string. */
export function logPlace(log: LogRecord): string {
  return [
    `","transactionIndex":"${log.transactionIndex}`,
    `","transactionHash":"${log.transactionHash}`,
    `","blockHash":"${log.blockHash}`,
    `","blockNumber":"${log.blockNumber}","address":"`,
  ].join('');
}

/** Canonical JSON of a log. */
export function logText(log: LogRecord, place = logPlace(log)): string {
  const head = log.removed ? '{"removed":true,"logIndex":"' : '{"removed":false,"logIndex":"';
  const topics = stringArray(log.topics);
  return `${head}${log.logIndex}${place}${log.address}","data":"${log.data}","topics":${topics}${log.more}}`;
}
