import type { Kind } from '@packhouse/chain';
import { type AuditEvents, type AuditParts, type AuditRequest, type AuditSummary, audit } from './audit.js';
import { createDamage, type DamagedBundle, settleAlarm } from './damage.js';
import { type OpenRepair, type Repair, repairNetwork } from './repair.js';

interface RunAuditOptions extends AuditEvents {
  /** If set, damaged bundles are repaired. */
  openRepair?: OpenRepair;
  onRepair?(repair: Repair): void;
}

export interface AuditOutcome {
  summary: AuditSummary;
  /** Bundles that are still damaged. */
  damaged: DamagedBundle[];
  repairs: Repair[];
  /** Findings that remain: all of them, or after repairs those of a second audit. */
  standing: number;
}

/**
 * Audits, repairs damaged bundles if asked to, audits the repaired ones again, and raises or clears each network's
 * alarm BUNDLE_DAMAGED according to the remaining damage.
 */
export async function runAudit(
  parts: AuditParts,
  request: AuditRequest,
  options: RunAuditOptions,
  signal: AbortSignal,
): Promise<AuditOutcome> {
  const { context, database } = parts;
  const { openRepair } = options;
  const damage = createDamage();
  const seen = createSeen();
  const summary = await audit(
    parts,
    request,
    {
      ...options,
      onFinding(finding) {
        damage.add(finding);
        context.metrics
          .counter('packhouse_audit_findings_total', 'What audits found, by cause', ['network', 'cause'])
          .inc({ network: finding.network, cause: finding.cause });
        if (!finding.harmless) context.logger.error({ ...finding }, 'an audit found damage');
        options.onFinding?.(finding);
      },
      onChecked(row, damaged, counts) {
        seen.add(row);
        context.metrics
          .counter('packhouse_audit_bundles_total', 'Published bundles that were read back and checked', [
            'network',
            'result',
          ])
          .inc({ network: row.network, result: damaged ? 'damaged' : 'clean' });
        options.onChecked?.(row, damaged, counts);
      },
    },
    signal,
  );
  const outcome: AuditOutcome = { summary, damaged: [], repairs: [], standing: summary.findings };
  for (const network of request.networks) {
    const found = damage.of(network);
    const { repairs, left } =
      openRepair === undefined || found.length === 0
        ? { repairs: [], left: found }
        : await repairAndLook(parts, { found, openRepair, options }, signal);
    outcome.repairs.push(...repairs);
    outcome.damaged.push(...left);
    const others = damage.others(network);
    await settleAlarm(database, network, {
      damaged: left,
      others,
      seen: ({ kind, start }) => seen.has(network, kind, start),
      everything: isEverything(request),
    });
  }
  if (openRepair !== undefined) {
    outcome.standing =
      outcome.damaged.length + request.networks.reduce((sum, network) => sum + damage.others(network), 0);
  }
  return outcome;
}

/** Repairs, then audits the repaired bundles. Returns the repairs, and the remaining damage. */
async function repairAndLook(
  parts: AuditParts,
  {
    found,
    openRepair,
    options,
  }: { found: readonly DamagedBundle[]; openRepair: OpenRepair; options: RunAuditOptions },
  signal: AbortSignal,
): Promise<{ repairs: Repair[]; left: DamagedBundle[] }> {
  const { network } = found[0] as DamagedBundle;
  const { onRepair } = options;
  const repairs = await repairNetwork(parts, { network, damaged: found, openRepair, onRepair }, signal);
  const repaired = repairs.filter(({ state }) => state === 'repaired').map(({ bundle }) => bundle);
  if (repaired.length === 0) return { repairs, left: [...found] };
  const again = createDamage();
  const names = new Set(repaired.map(({ kind, start }) => `${kind} ${start}`));
  await audit(
    parts,
    {
      networks: [network],
      kinds: [...new Set(repaired.map(({ kind }) => kind))],
      range: {
        start: Math.min(...repaired.map(({ start }) => start)),
        end: Math.max(...repaired.map(({ end }) => end)),
      },
      sample: 0,
      seed: '',
      objects: false,
      always: ({ kind, start }) => names.has(`${kind} ${start}`),
    },
    {
      onFinding(finding) {
        again.add(finding);
        options.onFinding?.(finding);
      },
    },
    signal,
  );
  const notRepaired = repairs.filter(({ state }) => state !== 'repaired').map(({ bundle }) => bundle);
  const still = again.of(network);
  const left = [...notRepaired.filter(({ key }) => !still.some((one) => one.key === key)), ...still];
  return { repairs, left };
}

function isEverything({ kinds, range, sample }: AuditRequest): boolean {
  return kinds.length === 5 && sample >= 1 && range.start === 0 && range.end === Number.MAX_SAFE_INTEGER;
}

/** The bundles that an audit checked, as runs of blocks of a kind. */
function createSeen(): {
  add(bundle: { network: string; kind: Kind; start: number; end: number }): void;
  has(network: string, kind: Kind, start: number): boolean;
} {
  // Bundles of a kind come in order, most of them adjacent: few runs hold millions.
  const runs = new Map<string, { start: number; end: number }[]>();
  return {
    add({ network, kind, start, end }) {
      const name = `${network} ${kind}`;
      const list = runs.get(name) ?? [];
      runs.set(name, list);
      const last = list.at(-1);
      if (last !== undefined && last.end === start - 1) last.end = end;
      else list.push({ start, end });
    },
    has: (network, kind, start) =>
      (runs.get(`${network} ${kind}`) ?? []).some((run) => run.start <= start && start <= run.end),
  };
}
