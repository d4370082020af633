import type { Vanished } from '../watch/watcher.js';
import { createFindings, type Verdict } from './verdict.js';

/** Invariant 7: whenever blocks left staging, the objects that hold them were there with the right sha256. */
export function reclaimedAfterReadable(vanished: readonly Vanished[]): Verdict {
  const findings = createFindings(7, 'staging is dropped after the object was readable');
  for (const { kind, blocks, problem } of vanished) {
    findings.looked(blocks);
    if (problem !== null) findings.violated(`${kind}: ${problem}`);
  }
  return findings.verdict();
}
