import { CLONE, getGiven, type Recorded, type Recordings } from '@packhouse/recordings';
import type { ProofPolicy } from '../src/prove/proved-block.js';

/** Every proof but that of the senders; the rules of Ethereum, any chain. */
export const POLICY: ProofPolicy = {
  header: 'recompute',
  transactions: 'recompute',
  receipts: 'recompute',
  senders: 'off',
  extraFields: 'keep',
};

/** The chain of the blocks in `early`. */
export const getEarlyChain = (source: Recordings): number => (source === CLONE ? 11_155_111 : 1);

/** A block of OP with a deposit and transactions of types 0x0 and 0x2. */
export function getBlockOfOp(source: Recordings): Recorded {
  const types = ['0x7e', '0x0', '0x2'];
  return source
    .blocks('optimism')
    .find(({ block }) => types.every((type) => block.transactions.some((tx) => tx.type === type)))!;
}

/** A block of another network; `receipts` are left out where the recording lacks their blooms. */
export interface OtherBlock extends Recorded {
  net: string;
}

/** Fresh copies of the blocks of other networks, by `<net> <number>`. */
export function otherBlocks(source = getGiven()): Map<string, OtherBlock> {
  return new Map(
    (['other-networks', 'other-networks-2', 'other-networks-3'] as const)
      .flatMap((name) => source.blocks(name) as OtherBlock[])
      .map(({ receipts, ...block }) => [
        `${block.net} ${block.number}`,
        receipts === undefined || receipts.some(({ logsBloom }) => logsBloom === undefined)
          ? block
          : { ...block, receipts },
      ]),
  );
}
