import type { Kind } from '@packhouse/chain';
import type { BundleRow } from '@packhouse/database';
import { getOrAdd } from '@packhouse/runtime';
import { bundleFinding, type Fault, type Finding, type FindingCause } from './finding.js';

/** How far an audit is. */
export interface AuditCounts {
  /** Bundles whose objects were read and checked. */
  bundles: number;
  /** Blocks of these, each once a kind. */
  blocks: number;
  /** Bytes read from the store. */
  bytesRead: number;
  findings: number;
  harmless: number;
}

/** Blocks of one kind for which a check was not possible. */
export interface Unchecked {
  network: string;
  kind: Kind;
  blocks: number;
  reason: string;
}

/** Collects the findings of an audit; each cause once per bundle, since one damage often shows in every block. */
export interface AuditReport {
  readonly counts: Readonly<AuditCounts>;
  /** Reports a damaged bundle. */
  fault(row: BundleRow, fault: Fault): void;
  /** Reports a finding that is not about one bundle. */
  found(finding: Finding): void;
  /** Whether something was found in this bundle. */
  isDamaged(row: BundleRow): boolean;
  read(bytes: number): void;
  /** A bundle was checked from its first byte to its last block. */
  checked(row: BundleRow): void;
  unchecked(row: BundleRow, reason: string): void;
  /** By cause. */
  causes(): Partial<Record<FindingCause, number>>;
  uncheckedBlocks(): Unchecked[];
}

/** Makes an empty report; `onFinding` and `onChecked` are called while it is filled. */
export function createReport(events: {
  onFinding?(finding: Finding): void;
  onChecked?(row: BundleRow, damaged: boolean): void;
}): AuditReport {
  const counts: AuditCounts = { bundles: 0, blocks: 0, bytesRead: 0, findings: 0, harmless: 0 };
  const causes = new Map<FindingCause, number>();
  const damaged = new Map<string, Set<FindingCause>>();
  const open = new Map<string, Unchecked>();
  const found = (finding: Finding): void => {
    if (finding.harmless) counts.harmless++;
    else counts.findings++;
    causes.set(finding.cause, (causes.get(finding.cause) ?? 0) + 1);
    events.onFinding?.(finding);
  };
  return {
    counts,
    found,
    fault(row, fault) {
      const known = getOrAdd(damaged, row.objectKey, () => new Set());
      if (known.has(fault.cause)) return;
      known.add(fault.cause);
      found(bundleFinding(row, fault));
    },
    isDamaged: (row) => damaged.has(row.objectKey),
    read(bytes) {
      counts.bytesRead += bytes;
    },
    checked(row) {
      counts.bundles++;
      counts.blocks += row.lastBlock - row.firstBlock + 1;
      events.onChecked?.(row, damaged.has(row.objectKey));
    },
    unchecked({ network, kind }, reason) {
      getOrAdd(open, `${network} ${kind} ${reason}`, () => ({ network, kind, blocks: 0, reason })).blocks++;
    },
    causes: () => Object.fromEntries(causes),
    uncheckedBlocks: () => [...open.values()],
  };
}
