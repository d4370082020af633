import type { BlockRange, Kind } from '@packhouse/chain';
import { ALL_ROWS, type Evidence } from './evidence.js';
import { createFindings, type Verdict } from './verdict.js';

/** A hole that may be there: blocks that are truly unavailable. */
interface ExcusedHole {
  kind: Kind;
  block: number;
  reason: string;
}

/**
 * Invariant 4: what coverage says is what the index holds, and wanted − published is empty but for what is excused.
 * `expected` is what has to be published of every kind.
 */
export async function coverageIsExact(
  { database, network, kinds }: Evidence,
  expected: BlockRange,
  excused: readonly ExcusedHole[] = [],
): Promise<Verdict> {
  const findings = createFindings(4, 'coverage is exact, no hole is silent');
  const quarantined = new Map(
    (await database.network(network).quarantine.list()).map((row) => [row.firstBlock, row.cause]),
  );
  for (const kind of kinds) {
    const published = new Set<number>();
    for (const { firstBlock, lastBlock } of await database.network(network).bundles.list(kind, 0, ALL_ROWS))
      for (let number = firstBlock; number <= lastBlock; number++) published.add(number);
    const coverage = await database.network(network).coverage(kind);
    const said = new Set<number>();
    for (const { firstBlock, lastBlock } of coverage.published)
      for (let number = firstBlock; number <= lastBlock; number++) said.add(number);
    for (const number of new Set([...published, ...said])) {
      findings.looked();
      if (published.has(number) !== said.has(number))
        findings.violated(
          `coverage says ${kind} ${number} is ${said.has(number) ? '' : 'not '}published, the index does not`,
        );
    }
    for (let number = expected.firstBlock; number <= expected.lastBlock; number++) {
      if (published.has(number)) continue;
      if (excused.some((hole) => hole.kind === kind && hole.block === number)) continue;
      findings.violated(
        `${kind} of block ${number} are wanted and not published${quarantined.has(number) ? `: quarantined, ${quarantined.get(number)}` : ', for no reason'}`,
      );
    }
  }
  for (const [number, cause] of quarantined) {
    if (excused.some((hole) => hole.block === number)) continue;
    findings.violated(`block ${number} is still quarantined (${cause}) though every node gives it`);
  }
  return findings.verdict();
}
