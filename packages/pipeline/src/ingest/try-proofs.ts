import { type Kind, PROOFS, type Proof } from '@packhouse/chain';
import { isPackhouseError } from '@packhouse/runtime';
import { toFetchRequest } from './extract.js';
import { proveBlock } from './prove-block.js';
import type { ProveDeps } from './prove-record.js';

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
  parts: ProveDeps,
  numbers: readonly number[],
  kinds: readonly Kind[],
  signal: AbortSignal,
): Promise<ProofTrial> {
  const wish = toFetchRequest(kinds);
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

/** The trial in sentences: what was verified, null if nothing was, and what was not. */
export function describeTrial(
  network: string,
  { rules, proved, proofs, notProved, failed }: ProofTrial,
): { verified: string | null; problems: string[] } {
  const blocks = `${proved.length === 1 ? 'block' : 'blocks'} ${proved.join(' and ')} of ${network}`;
  const passed = proofs.length === 0 ? 'no proof is possible' : proofs.join(', ');
  return {
    verified: proved.length === 0 ? null : `Verified sample ${blocks} (rules of ${rules}): ${passed}.`,
    problems: [
      ...notProved.map((reason) => `Not proved on ${network}: ${reason}`),
      ...failed.map(
        ({ number, error }) => `Block ${number} of ${network} cannot be proved: ${describeFailure(error)}`,
      ),
    ],
  };
}

/** With the line that a networks file lacks, if there is one. */
function describeFailure(error: Error): string {
  const hasWay = isPackhouseError(error) && error.data.way !== undefined;
  return hasWay ? `${error.message} ${error.hint}` : error.message;
}
