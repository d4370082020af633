import { createProver, type ProofPolicy, type Prover } from '@packhouse/chain';
import type { BundleRow } from '@packhouse/database';

/** Gives the prover that asks of a bundle's blocks what its row claims, as far as the network's policy still asks it. */
export type ProverFor = (row: BundleRow) => Promise<Prover>;

/** Makes the provers of a network as they are needed; `policy` is undefined where no networks file is at hand. */
export function createProvers(policy: ProofPolicy | undefined): ProverFor {
  const made = new Map<string, Promise<Prover>>();
  return (row) => {
    const recompute = row.proofs.includes('headerHash') && policy?.header !== 'trust';
    const senders = row.proofs.includes('senders') && policy?.senders !== false;
    const key = `${recompute} ${senders}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    // Whatever was kept is kept: the canonical form of a text without extra fields has none either.
    const prover = createProver({
      header: recompute ? 'recompute' : 'trust',
      senders,
      extraFields: 'keep',
    });
    made.set(key, prover);
    return prover;
  };
}
