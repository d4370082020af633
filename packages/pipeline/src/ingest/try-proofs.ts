import { type Kind, PROOFS, type Proof } from '@packhouse/chain';
import { fetchWish } from './extract.js';
import { type ProveParts, proveBlock } from './prove-block.js';

/** What a few blocks of a network prove, found out before many are fetched. */
export interface ProofTrial {
  /** Name of the rules that they follow. */
  rules: string;
  /** The blocks that were proved. */
  proved: number[];
  /** The proofs that all of them passed. */
  proofs: Proof[];
  /** What of them is not proved, each reason once, as `receiptsRoot: because …`. */
  notProved: string[];
  /** The blocks that no upstream gave, or gave in a form that proves. */
  failed: { number: number; error: Error }[];
}

/** Fetches and proves these blocks, as an ingester does; nothing is kept. Throws only when aborted. */
export async function tryProofs(
  parts: ProveParts,
  numbers: readonly number[],
  kinds: readonly Kind[],
  signal: AbortSignal,
): Promise<ProofTrial> {
  const wish = fetchWish(kinds);
  const { rules } = parts.prover;
  const trial: ProofTrial = { rules, proved: [], proofs: [...PROOFS], notProved: [], failed: [] };
  for (const number of new Set(numbers)) {
    try {
      const fetched = await parts.source.fetchBlock(number, wish, { signal });
      const outcome = await proveBlock(parts, fetched, wish, signal);
      if ('error' in outcome) {
        trial.failed.push({ number, error: outcome.error });
        continue;
      }
      const { proofs, notProved } = outcome.block;
      trial.proved.push(number);
      trial.proofs = trial.proofs.filter((proof) => proofs.includes(proof));
      trial.notProved.push(...notProved.map(({ proof, because }) => `${proof}: ${because}`));
    } catch (error) {
      signal.throwIfAborted();
      trial.failed.push({ number, error: error as Error });
    }
  }
  trial.notProved = [...new Set(trial.notProved)];
  return trial;
}

/** The trial in sentences: what is proved first, then what is not and what failed. */
export function describeTrial(
  network: string,
  { rules, proved, proofs, notProved, failed }: ProofTrial,
): string[] {
  const blocks = proved.length === 1 ? `block ${proved[0]}` : `blocks ${proved.join(' and ')}`;
  return [
    ...(proved.length === 0
      ? []
      : [
          `Tried ${blocks} of ${network} by the rules of ${rules}: ${proofs.length === 0 ? 'no proof can be made' : `${proofs.join(', ')} hold`}.`,
        ]),
    ...notProved.map((reason) => `Not proved on ${network}: ${reason}`),
    ...failed.map(({ number, error }) => `Block ${number} of ${network} cannot be proved: ${error.message}`),
  ];
}
