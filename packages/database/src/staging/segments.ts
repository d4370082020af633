import { SEGMENT_BLOCKS } from '../database.js';

/** First keys of the advisory locks; the second key is the segment's number, the network's id. */
const SEGMENT_LOCKS = 0x50_48_00_00;
const NETWORK_LOCKS = 0x50_47_00_00;

/** One segment of one network: a partition of each staging table. */
export interface Segment {
  networkId: number;
  /** Start block divided by SEGMENT_BLOCKS. */
  number: number;
}

/** The segment that holds a block. */
export function segmentOf(networkId: number, block: number): Segment {
  return { networkId, number: Math.floor(block / SEGMENT_BLOCKS) };
}

/** First block of the segment that holds `block`. */
export function segmentStart(block: number): number {
  return block - (block % SEGMENT_BLOCKS);
}

/** The two keys of a segment's lock. */
export function segmentLock(segment: Segment): [number, number] {
  return [SEGMENT_LOCKS + segment.networkId, segment.number];
}

/** The two keys of a network's lock: shared by all that stage, exclusive for a reorganisation. */
export function networkLock(networkId: number): [number, number] {
  return [NETWORK_LOCKS, networkId];
}

/** The names of a segment's partitions, without their schema. */
export function partitionNames({ networkId, number }: Segment): { blocks: string; fragments: string } {
  const suffix = `${networkId}_${number}`;
  return { blocks: `staged_block_${suffix}`, fragments: `fragment_${suffix}` };
}
