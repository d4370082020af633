import type { AuditCounts, AuditOutcome, Finding, Repair } from '@packhouse/audit';
import { counted, formatBytes, formatCount, formatDuration } from '../../terminal/format.js';
import { type CliIo, write } from '../../terminal/io.js';

/** Time between reports of the progress, in milliseconds. */
const PROGRESS_MS = 5_000;

/** Prints the events of an audit: sentences, or with --json one object per line. */
export interface AuditPrinter {
  finding(finding: Finding): void;
  checked(counts: Readonly<AuditCounts>): void;
  repair(repair: Repair): void;
  /** Packers were told to write a data file of the lake again. */
  rebuild(finding: Finding): void;
  deleted(keys: readonly string[]): void;
  /** `unsigned`: bundles that wait for their entry of the manifest. */
  done(outcome: AuditOutcome, unsigned: number): void;
  /** It was stopped before it was done. */
  stopped(): void;
}

/** Creates a printer; `elapsed` returns milliseconds. */
export function createAuditPrinter(io: CliIo, json: boolean, elapsed: () => number): AuditPrinter {
  const startedAt = elapsed();
  let reportedAt = startedAt;
  let last: AuditCounts = { bundles: 0, blocks: 0, bytesRead: 0, findings: 0, harmless: 0 };
  return {
    finding(finding) {
      write(io, json ? { event: 'finding', ...finding } : finding.message);
    },
    checked(counts) {
      last = { ...counts };
      if (elapsed() - reportedAt < PROGRESS_MS) return;
      reportedAt = elapsed();
      const seconds = (reportedAt - startedAt) / 1_000;
      const speed = counts.bytesRead / seconds;
      if (json) write(io, { event: 'progress', ...counts, seconds, bytesPerSecond: Math.round(speed) });
      else if (io.stdout.isTTY) {
        io.stderr.write(
          `… ${formatCount(counts.bundles)} bundles, ${formatBytes(counts.bytesRead)}, ${formatBytes(speed)}/s, ${counts.findings} findings\n`,
        );
      }
    },
    repair({ bundle, state, version, message }) {
      const { network, kind, firstBlock: from, lastBlock: to } = bundle;
      const event = { event: 'repair', network, kind, from, to, state, version, message };
      write(io, json ? event : message);
    },
    rebuild({ network, kind, from, to, key }) {
      const event = { event: 'rebuild', network, kind, from, to, key };
      const text = `${network} ${kind} ${from}-${to}: packers with LAKE=on write ${key} again.`;
      write(io, json ? event : text);
    },
    deleted(keys) {
      for (const key of keys) write(io, json ? { event: 'deleted', key } : `Deleted orphan ${key}.`);
    },
    stopped() {
      const text = `Audit stopped after ${counted(last.bundles, 'bundle')}, with ${counted(last.findings, 'finding')}.`;
      write(io, json ? { event: 'stopped', ...last } : text);
    },
    done({ summary, standing, repairs }, unsigned) {
      const repaired = repairs.filter(({ state }) => state === 'repaired').length;
      if (json) {
        const bytesPerSecond = Math.round(summary.bytesPerSecond);
        write(io, { event: 'done', ...summary, bytesPerSecond, repaired, standing, unsigned });
        return;
      }
      for (const { network, kind, blocks, reason } of summary.unchecked) {
        write(io, `Not checked: ${counted(blocks, 'block')} of ${network} ${kind}: ${reason}.`);
      }
      const causes = Object.entries(summary.causes).map(([cause, count]) => `${count} ${cause}`);
      const found = summary.findings === 0 ? 'no damage' : counted(summary.findings, 'finding');
      const after = repairs.length === 0 ? '' : `; ${repaired} of ${repairs.length} repaired`;
      const named = causes.length === 0 ? '' : ` (${causes.join(', ')})`;
      write(
        io,
        `Audited ${counted(summary.bundles, 'bundle')}, ${formatCount(summary.blocks)} blocks, ${formatBytes(summary.bytesRead)} in ${formatDuration(summary.seconds)} (${formatBytes(summary.bytesPerSecond)}/s): ${found}${named}${after}.`,
      );
      if (unsigned > 0) {
        write(io, `${counted(unsigned, 'manifest entry', 'manifest entries')} to be signed by a packer.`);
      }
    },
  };
}
