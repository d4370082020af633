import {
  ALL,
  CLONE,
  getGiven,
  type Recorded,
  type RecordingName,
  type Recordings,
} from '@packhouse/recordings';
import { describe } from 'vitest';
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

/**
 * A suite for each folder that has the recording; skipped, and named as what needs RECORDINGS, if none has. The body
 * must read within its tests: that of a skipped suite runs too.
 */
export function describeEach(name: RecordingName, title: string, body: (source: Recordings) => void): void {
  const sources = ALL.filter((source) => source.has(name));
  for (const source of sources) describe(`${title}: ${source.title}`, () => body(source));
  if (sources.length === 0) describe.skip(`${title} (needs RECORDINGS)`, () => body(CLONE));
}

/** A block of another network; `receipts` are left out where the recording lacks their blooms. */
export interface OtherBlock extends Recorded {
  net: string;
}

/** Fresh copies of the blocks of other networks, by `<net> <number>`. */
export function otherBlocks(source = getGiven()): Map<string, OtherBlock> {
  return new Map(
    (['other-networks', 'other-networks-2'] as const)
      .flatMap((name) => source.blocks(name) as OtherBlock[])
      .map(({ receipts, ...block }) => [
        `${block.net} ${block.number}`,
        receipts === undefined || receipts.some(({ logsBloom }) => logsBloom === undefined)
          ? block
          : { ...block, receipts },
      ]),
  );
}
