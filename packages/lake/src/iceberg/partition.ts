import { encodeBound } from './bounds.js';
import type { Field } from './fields.js';

/**
 * Tables are partitioned by block number (Iceberg specification, "Partitioning", transform `truncate`), so that readers of a
 * range skip the manifests of all other blocks. A data file has blocks of one partition: none crosses a multiple of this.
 */
export const PARTITION_BLOCKS = 100_000;

const NAME = 'block_number_trunc';
/** Ids of partition fields begin there. */
const FIELD_ID = 1_000;

/** The partition of a data file, as its entry of a manifest has it. */
export const PARTITION = {
  type: 'record',
  name: 'r102',
  fields: [{ name: NAME, type: ['null', 'long'], default: null, 'field-id': FIELD_ID }],
};

/** The partition spec of a table as JSON (appendix C). */
export function partitionSpec(fields: readonly Field[]): { 'spec-id': number; fields: object[] } {
  const source = fields.find(({ name }) => name === 'block_number')?.id;
  const transform = `truncate[${PARTITION_BLOCKS}]`;
  return { 'spec-id': 0, fields: [{ name: NAME, transform, 'source-id': source, 'field-id': FIELD_ID }] };
}

/** The largest id of a partition field. */
export const LAST_PARTITION_ID = FIELD_ID;

/** The value of the partition of a file by its first block. */
export function partitionOf(firstBlock: number): object {
  return { [NAME]: { long: truncate(firstBlock) } };
}

/** The least and the greatest value of the partitions of these blocks, as a list of manifests has them. */
export function partitionBounds(firstBlock: number, lastBlock: number): object {
  return {
    contains_null: false,
    lower_bound: { bytes: encodeBound('long', String(truncate(firstBlock))) },
    upper_bound: { bytes: encodeBound('long', String(truncate(lastBlock))) },
  };
}

function truncate(block: number): number {
  return block - (block % PARTITION_BLOCKS);
}
