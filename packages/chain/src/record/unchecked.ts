import type { Kind } from './kinds.js';

/**
 * What the checks of a block leave open although its proofs passed: fields that no root has and that follow from nothing
 * that is known. Named in `notProved` of what the kinds hold that have the field, so that none of them is silent.
 */
export const UNCHECKED = {
  prices: {
    because:
      'prices of gas follow from rules that are not known here: only that none is above what its transaction offers is checked',
    kinds: ['blocks', 'transactions', 'receipts'],
  },
  basePrices: {
    because:
      'effectiveGasPrice is the base fee, or that with the tip where the chain takes it: which of them, no field says',
    kinds: ['receipts'],
  },
  typePrices: {
    because: 'a transaction is of a type that does not encode what it pays for gas',
    kinds: ['blocks', 'transactions', 'receipts'],
  },
  blobPrice: {
    because: 'blobGasPrice follows from constants of a fork that is not known here',
    kinds: ['receipts'],
  },
  fees: { because: 'fees for the layer below are in no root', kinds: ['receipts'] },
  size: {
    because: 'size is not recomputed, as parts of the block are not known or may be counted otherwise',
    kinds: ['blocks'],
  },
  sums: { because: 'gasUsed of receipts is not compared with cumulativeGasUsed', kinds: ['receipts'] },
  depositGas: {
    because: 'gasUsed of a deposit is not what the block counts before Regolith',
    kinds: ['receipts'],
  },
  contracts: {
    because: 'addresses of new contracts follow from rules that are not known here',
    kinds: ['receipts'],
  },
  status: {
    because: 'a receipt has a status beside its root, of which the root of the receipts has one',
    kinds: ['receipts'],
  },
} as const satisfies Record<string, { because: string; kinds: readonly Kind[] }>;

export type Unchecked = keyof typeof UNCHECKED;

const KINDS_OF: ReadonlyMap<string, readonly Kind[]> = new Map(
  Object.values(UNCHECKED).map(({ because, kinds }) => [because, kinds]),
);

/** Whether a reason why something is not proved is about records of this kind; those of roots are about all. */
export function concerns(kind: Kind, because: string): boolean {
  return KINDS_OF.get(because)?.includes(kind) ?? true;
}
