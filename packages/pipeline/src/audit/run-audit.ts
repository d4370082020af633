import type { Kind } from '@packhouse/chain';
import { type AuditEvents, type AuditParts, type AuditRequest, type AuditSummary, audit } from './audit.js';
import { createDamage, type DamagedBundle } from './damage.js';
import { settleAlarm } from './damage-alarm.js';
import { type OpenRepair, type Repair, repairNetwork } from './repair-network.js';

interface RunAuditOptions extends AuditEvents {
  /** Damaged bundles are repaired where this is given. */
  openRepair?: OpenRepair;
  onRepair?(repair: Repair): void;
}

export interface AuditOutcome {
  summary: AuditSummary;
  /** What is damaged still. */
  damaged: DamagedBundle[];
  repairs: Repair[];
  /** Findings that stand: all of them, or after repairs those that a second look still has. */
  standing: number;
}

/**
 * Audits, repairs what it found where that is wanted, looks again at what was repaired, and raises or clears each
 * network's alarm BUNDLE_DAMAGED by what is left.
 */
export async function runAudit(
  parts: AuditParts,
  request: AuditRequest,
  options: RunAuditOptions,
  signal: AbortSignal,
): Promise<AuditOutcome> {
  const { context, database } = parts;
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
    const left =
      options.openRepair === undefined || found.length === 0
        ? found
        : await repairAndLook(parts, options, network, found, outcome, signal);
    outcome.damaged.push(...left);
    const others = damage.others(network);
    await settleAlarm(database, network, {
      damaged: left,
      others,
      seen: ({ kind, start }) => seen.has(network, kind, start),
      everything: isEverything(request),
    });
  }
  if (options.openRepair !== undefined) {
    outcome.standing =
      outcome.damaged.length + request.networks.reduce((sum, network) => sum + damage.others(network), 0);
  }
  return outcome;
}

/** Repairs, then audits what was repaired. Gives what is damaged still. */
async function repairAndLook(
  parts: AuditParts,
  options: RunAuditOptions,
  network: string,
  found: readonly DamagedBundle[],
  outcome: AuditOutcome,
  signal: AbortSignal,
): Promise<DamagedBundle[]> {
  const { context, database, objectStore } = parts;
  const openRepair = options.openRepair as OpenRepair;
  const repairs = await repairNetwork(
    { context, database, objectStore, openRepair },
    network,
    found,
    signal,
    options.onRepair,
  );
  outcome.repairs.push(...repairs);
  const repaired = repairs.filter(({ state }) => state === 'repaired').map(({ bundle }) => bundle);
  if (repaired.length === 0) return [...found];
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
  return [...notRepaired.filter(({ key }) => !still.some((one) => one.key === key)), ...still];
}

function isEverything({ kinds, range, sample }: AuditRequest): boolean {
  return kinds.length === 5 && sample >= 1 && range.start === 0 && range.end === Number.MAX_SAFE_INTEGER;
}

/** Which bundles an audit came by, as runs of start blocks a kind. */
function createSeen(): {
  add(bundle: { network: string; kind: Kind; start: number; end: number }): void;
  has(network: string, kind: Kind, start: number): boolean;
} {
  // Bundles of a kind come in order, most of them side by side: few runs stand for millions.
  const runs = new Map<string, { start: number; end: number }[]>();
  return {
    add({ network, kind, start, end }) {
      const lane = `${network} ${kind}`;
      const list = runs.get(lane) ?? [];
      runs.set(lane, list);
      const last = list.at(-1);
      if (last !== undefined && last.end === start - 1) last.end = end;
      else list.push({ start, end });
    },
    has: (network, kind, start) =>
      (runs.get(`${network} ${kind}`) ?? []).some((run) => run.start <= start && start <= run.end),
  };
}
