import type { ProofPolicy } from '@packhouse/chain';
import { createKeccak256, createProver, type Prover } from '@packhouse/chain';
import { type Case, KINDS_OF_CASES, type KindOfCase, makeCase } from './cases.js';
import { judge, type Scan, type Verdict } from './judge.js';
import type { Sample } from './samples.js';

/** How many cases of a kind ended how. */
export type Counts = Record<KindOfCase, Record<'accepted' | 'declined' | 'refused', number>>;

/** A case in which scanner and prover disagree. */
export interface Failure {
  seed: number;
  /** Number of the case. */
  index: number;
  case: Case;
  disagreement: string;
  /** Whether it fails with a fresh scanner; otherwise cases before it are needed too. */
  alone: boolean;
}

/** Makes a scanner for one policy, from the prover of that policy. */
export type MakeScan = (prover: Prover) => Scan;

/** Cases of one seed, to be tried one after the other. */
export interface Fuzz {
  readonly counts: Counts;
  /** Tries one case; returns the failure, if it is one. */
  attempt(index: number): Promise<Failure | undefined>;
}

/** A scanner, and the prover that judges it. */
interface Pair {
  scan: Scan;
  judging: Prover;
}

/**
 * Keeps a pair for each policy. The prover that judges is another than the scanner's own: what one remembers cannot
 * excuse the other.
 */
export function createPairs(makeScan: MakeScan): (policy: ProofPolicy) => Promise<Pair> {
  const kept = new Map<string, Pair>();
  return async (policy) => {
    const key = JSON.stringify(policy);
    const known = kept.get(key);
    if (known !== undefined) return known;
    const pair = { scan: makeScan(await createProver(policy)), judging: await createProver(policy) };
    kept.set(key, pair);
    return pair;
  };
}

/**
 * Prepares the cases of a seed, of which the blocks are `samples`. `asks`: see `judge`.
 */
export async function createFuzz(options: {
  seed: number;
  makeScan: MakeScan;
  samples: readonly Sample[];
  asks?: boolean;
}): Promise<Fuzz> {
  const { seed, makeScan, samples, asks = false } = options;
  const keccak = await createKeccak256();
  const counts = Object.fromEntries(
    KINDS_OF_CASES.map((kind) => [kind, { accepted: 0, declined: 0, refused: 0 }]),
  ) as Counts;
  const pairFor = createPairs(makeScan);
  return {
    counts,
    async attempt(index) {
      const one = makeCase(seed, index, samples, keccak);
      const { scan, judging } = await pairFor(one.policy);
      const verdict = judge(scan, judging, one.raw, asks);
      if (typeof verdict === 'string') {
        counts[one.kind][verdict]++;
        return undefined;
      }
      const { disagreement } = verdict;
      const fresh: Verdict = judge(makeScan(await createProver(one.policy)), judging, one.raw, true);
      return { seed, index, case: one, disagreement, alone: typeof fresh !== 'string' };
    },
  };
}

/** A failure in a few lines, with what repeats it. */
export function describeFailure({ seed, index, case: one, disagreement, alone }: Failure): string {
  const how = alone ? `--case ${index}` : `--cases ${index + 1}`;
  return [
    `case ${index} of seed ${seed} (${one.kind}, ${one.of}, policy ${one.policyName}): ${disagreement}`,
    `repeat: npm run fuzz -- --seed ${seed} ${how}${alone ? '' : ' (it needs the cases before it)'}`,
  ].join('\n');
}
