import type { BlockRecord } from '../read/block.js';
import { member, stringArray } from './member.js';

/** The two pieces of a block's text; its array of transactions stands between them. */
export function blockText(block: BlockRecord): { head: string; tail: string } {
  const head =
    `{"number":"${block.number}","hash":"${block.hash}","parentHash":"${block.parentHash}"` +
    member('nonce', block.nonce) +
    `,"sha3Uncles":"${block.sha3Uncles}","logsBloom":"${block.logsBloom}"` +
    `,"transactionsRoot":"${block.transactionsRoot}","stateRoot":"${block.stateRoot}"` +
    `,"receiptsRoot":"${block.receiptsRoot}","miner":"${block.miner}"` +
    member('mixHash', block.mixHash) +
    `,"difficulty":"${block.difficulty}"` +
    member('totalDifficulty', block.totalDifficulty) +
    `,"extraData":"${block.extraData}","size":"${block.size}","gasLimit":"${block.gasLimit}"` +
    `,"gasUsed":"${block.gasUsed}","timestamp":"${block.timestamp}","transactions":`;
  const tail = `,"uncles":${stringArray(block.uncles)}${member('baseFeePerGas', block.baseFeePerGas)}${block.more}}`;
  return { head, tail };
}
