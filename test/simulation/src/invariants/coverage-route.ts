import type { BlockRange, Kind } from '@packhouse/chain';
import { type CoverageAnswer, checkCoverageAnswer, parseRange } from '../watch/coverage-answer.js';
import { ALL_ROWS, type Evidence } from './evidence.js';
import { createFindings, type Verdict } from './verdict.js';

/** Invariant 4, as people see it: the coverage route says of each block what the index says, and knows no hole. */
export async function coverageRouteIsTrue(
  { database, network, kinds }: Evidence,
  expected: BlockRange,
  ask: (cursor: string | null) => Promise<CoverageAnswer>,
): Promise<Verdict> {
  const findings = createFindings(4, 'the coverage route says what the index says');
  const said = new Map<Kind, Set<number>>(kinds.map((kind) => [kind, new Set()]));
  let answer = await ask(null);
  for (;;) {
    const problem = checkCoverageAnswer(answer);
    if (problem !== null) findings.violated(problem);
    for (const { kind, published, holes } of answer.kinds) {
      for (const [start, end] of published.map(parseRange))
        for (let number = start; number <= end; number++) said.get(kind)?.add(number);
      for (const { range, reason } of holes) {
        const [start, end] = parseRange(range);
        if (end >= expected.firstBlock && start <= expected.lastBlock)
          findings.violated(`${kind} ${range} are said to be missing: ${reason}`);
      }
    }
    if (answer.next === null) break;
    answer = await ask(answer.next);
  }
  if (answer.completeThrough !== expected.lastBlock)
    findings.violated(`complete up to ${answer.completeThrough} is said, expected ${expected.lastBlock}`);
  for (const kind of kinds) {
    const known = said.get(kind) as Set<number>;
    let count = 0;
    for (const { firstBlock, lastBlock } of await database.network(network).bundles.list(kind, 0, ALL_ROWS))
      for (let number = firstBlock; number <= lastBlock; number++, count++) {
        findings.looked();
        if (!known.has(number))
          findings.violated(`${kind} ${number} is published, which coverage does not say`);
      }
    if (known.size > count)
      findings.violated(`${kind}: ${known.size} blocks are said to be published, ${count} are`);
  }
  return findings.verdict();
}
