import type { Recorded } from '@packhouse/recordings';
import { seal } from './seal.js';

/**
 * A block of Prague as one of Amsterdam: the two fields of its header, and more gas than the receipts use (EIP-7778,
 * EIP-8037). No recorded network has reached that fork with transactions in its blocks.
 */
export function toAmsterdam(answer: Recorded): Promise<Recorded> {
  const used = Number(answer.receipts!.at(-1)!.cumulativeGasUsed);
  Object.assign(answer.block, {
    blockAccessListHash: `0x${'e6'.repeat(32)}`,
    slotNumber: '0xac6000',
    gasUsed: `0x${(used + 1).toString(16)}`,
  });
  return seal(answer);
}
