import { createFindings, type Verdict } from './verdict.js';

/** Invariant 9: no process was ever seen with more resident memory than its limit, in bytes. */
export function memoryBounded(
  most: ReadonlyMap<string, number>,
  getLimit: (process: string) => number,
): Verdict {
  const findings = createFindings(9, 'memory is bounded');
  for (const [process, bytes] of most) {
    findings.looked();
    const limit = getLimit(process);
    if (bytes > limit)
      findings.violated(
        `${process} had ${Math.round(bytes / 2 ** 20)} MiB, limit ${Math.round(limit / 2 ** 20)}`,
      );
  }
  return findings.verdict();
}
