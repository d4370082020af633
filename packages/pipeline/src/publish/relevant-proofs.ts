import type { Kind, Proof } from '@packhouse/chain';

/** What stands behind the bytes of one kind: the header's proofs, and the traces' where traces are in the file. */
export function relevantProofs(kind: Kind, proofs: readonly Proof[]): Proof[] {
  return proofs.filter((proof) => proof !== 'traces' || kind === 'traces');
}
