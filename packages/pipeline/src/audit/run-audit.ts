import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import type { Context } from '@packhouse/runtime';
import { intersectRanges, unionRanges } from '../ranges.js';
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

/**
 * Repairs, then audits the rebuilt bundles together with the other kinds of their blocks: a bundle that is still
 * damaged is not repaired. Returns the repairs, and the remaining damage.
 */
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
  const rebuilt = await repairNetwork(parts, { network, damaged: found, openRepair }, signal);
  const ranges = unionRanges(rebuilt.filter(({ state }) => state === 'repaired').map(({ bundle }) => bundle));
  const again = createDamage();
  if (ranges.length > 0) await auditAgain(parts, { network, ranges, found, again, options }, signal);
  const still = again.of(network);
  const repairs = rebuilt.map((repair) => judge(repair, still));
  for (const repair of repairs) {
    count(parts.context, repair);
    options.onRepair?.(repair);
  }
  const notRepaired = rebuilt.filter(({ state }) => state !== 'repaired').map(({ bundle }) => bundle);
  return {
    repairs,
    left: [...notRepaired.filter((bundle) => !still.some((one) => isSame(one, bundle))), ...still],
  };
}

async function auditAgain(
  parts: AuditParts,
  {
    network,
    ranges,
    found,
    again,
    options,
  }: {
    network: string;
    ranges: readonly BlockRange[];
    found: readonly DamagedBundle[];
    again: ReturnType<typeof createDamage>;
    options: RunAuditOptions;
  },
  signal: AbortSignal,
): Promise<void> {
  const [first, last] = [ranges[0] as BlockRange, ranges.at(-1) as BlockRange];
  await audit(
    parts,
    {
      networks: [network],
      kinds: KINDS,
      range: { start: first.start, end: last.end },
      sample: 0,
      seed: '',
      objects: false,
      always: (bundle) => intersectRanges(ranges, [bundle]).length > 0,
    },
    {
      onFinding(finding) {
        again.add(finding);
        // What was found before in the same object is known.
        if (!found.some(({ key }) => key === finding.key)) options.onFinding?.(finding);
      },
    },
    signal,
  );
}

/** A rebuilt bundle with a finding in its new version is not repaired. */
function judge(repair: Repair, still: readonly DamagedBundle[]): Repair {
  const { bundle, state, version } = repair;
  const damage = state === 'repaired' ? still.find((one) => isSame(one, bundle)) : undefined;
  if (damage === undefined) return repair;
  const { network, kind, start, end } = bundle;
  const message = `${network} ${kind} ${start}-${end} is rebuilt as version ${version} and still damaged: ${damage.message}`;
  return { ...repair, state: 'failed', message };
}

function isSame(a: DamagedBundle, b: DamagedBundle): boolean {
  return a.kind === b.kind && a.start === b.start;
}

function count(context: Context, { bundle: { network, kind }, state }: Repair): void {
  context.metrics
    .counter('packhouse_repairs_total', 'Damaged bundles that were to be repaired, by what came of it', [
      'network',
      'kind',
      'result',
    ])
    .inc({ network, kind, result: state });
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
