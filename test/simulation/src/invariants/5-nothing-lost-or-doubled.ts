import type { BlockRange } from '@packhouse/chain';
import { ALL_ROWS, type Evidence } from './evidence.js';
import { createFindings, type Verdict } from './verdict.js';

/** What was done twice, and what may have been. */
interface Redone {
  /** Blocks that the nodes gave whole more than once, each time but the first. */
  fetchedAgain: number;
  /** Jobs that may have been begun again: kills, and whatever else takes a running job away. */
  disturbances: number;
  /** The most blocks that one such disturbance may cost: the largest job, times the jobs that run at a time. */
  blocksEach: number;
}

/** Invariant 5: every block of every kind is published exactly once, and what was redone is less than one job a kill. */
export async function nothingLostOrDoubled(
  { database, network, kinds }: Evidence,
  expected: BlockRange,
  redone?: Redone,
): Promise<Verdict> {
  const findings = createFindings(5, 'nothing lost, nothing doubled, little redone');
  for (const kind of kinds) {
    const times = new Map<number, number>();
    for (const { firstBlock, lastBlock } of await database.network(network).bundles.list(kind, 0, ALL_ROWS))
      for (let number = firstBlock; number <= lastBlock; number++)
        times.set(number, (times.get(number) ?? 0) + 1);
    for (let number = expected.firstBlock; number <= expected.lastBlock; number++) {
      findings.looked();
      const count = times.get(number) ?? 0;
      if (count !== 1) findings.violated(`${kind} of block ${number} are published ${count} times`);
    }
  }
  if (redone !== undefined) {
    const { fetchedAgain, disturbances, blocksEach } = redone;
    findings.looked();
    if (fetchedAgain > disturbances * blocksEach)
      findings.violated(
        `${fetchedAgain} blocks were fetched again, ${disturbances} disturbances of ${blocksEach} blocks at most allow ${disturbances * blocksEach}`,
      );
  }
  return findings.verdict();
}
