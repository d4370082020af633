import type { Keccak } from '@packhouse/chain';
import type { Answer, Json } from './encode.js';
import { ERAS, makeBlock } from './make-block.js';
import { createRandom } from './random.js';

/** A node's answers for one block, each the text of `result`, as they were before anything was changed. */
export interface Sample {
  /** Where it is from: `cancun`, or `forks 1000000`. */
  name: string;
  chainId: number;
  /** Whether signatures are of the senders that are named. */
  signed: boolean;
  block: string;
  receipts?: string;
  traces?: string;
}

/** Blocks of each era that are made in each form. */
const MADE_OF_AN_ERA = 24;

/** Blocks of all eras, made and sealed; half in the order of fields of the format, half in that of the alphabet. */
export function madeSamples(seed: number, keccak: Keccak): Sample[] {
  return ERAS.flatMap((era, index) =>
    Array.from({ length: MADE_OF_AN_ERA }, (_, at) => {
      const signed = at % 3 === 0;
      const made = makeBlock(createRandom(seed, 1_000 * index + at), era, signed, keccak);
      const { block, receipts, traces }: Answer = at % 2 === 0 ? made : (sorted(made) as Answer);
      return {
        name: era.name,
        chainId: era.chainId,
        signed,
        block: JSON.stringify(block),
        receipts: JSON.stringify(receipts),
        traces: JSON.stringify(traces),
      };
    }),
  );
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted((value as Json)[name])]));
}
