import {
  addRange,
  type BlockRange,
  intersectRanges,
  KINDS,
  rangesInclude,
  unionRanges,
} from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import { isLakeKey } from '@packhouse/lake';
import { getOrAdd } from '@packhouse/runtime';
import {
  type AuditEvents,
  type AuditParts,
  type AuditRequest,
  type AuditSummary,
  audit,
  choosesFile,
  isWhole,
} from './audit.js';
import { sourceKind } from './audit-lake.js';
import { type AlarmedFile, createDamage, type DamagedBundle, settleAlarm } from './damage.js';
import type { Finding } from './finding.js';
import { type OpenRepair, type Repair, repairNetwork } from './repair.js';

/** Data files that one audit has written again; the next one finds the others. */
const MAX_DATA_FILES = 10_000;

interface RunAuditOptions extends AuditEvents {
  /** If set, damaged bundles are repaired. */
  openRepair?: OpenRepair;
  onRepair?(repair: Repair): void;
  /** If set, packers write damaged data files of the lake again, from the bundles. */
  rebuildLake?: boolean;
  /** Packers were told to write this data file again. */
  onRebuild?(finding: Finding): void;
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
  const dataFiles: Finding[] = [];
  /** The bundles that were checked, as runs of blocks of a kind: they come in order, so few runs hold millions. */
  const seen = new Map<string, BlockRange[]>();
  const summary = await audit(
    parts,
    request,
    {
      ...options,
      onFinding(finding) {
        damage.add(finding);
        if (finding.cause === 'dataFile' && dataFiles.length < MAX_DATA_FILES) dataFiles.push(finding);
        context.metrics.count('packhouse_audit_findings_total', 'What audits found, by cause', {
          network: finding.network,
          cause: finding.cause,
        });
        if (!finding.harmless) context.logger.error({ ...finding }, 'an audit found damage');
        options.onFinding?.(finding);
      },
      onChecked(row, damaged, counts) {
        addRange(
          getOrAdd(seen, `${row.network} ${row.kind}`, () => []),
          row,
        );
        context.metrics.count(
          'packhouse_audit_bundles_total',
          'Published bundles that were read back and checked',
          { network: row.network, result: damaged ? 'damaged' : 'clean' },
        );
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
        : await repairAndLook(parts, found, openRepair, options, signal);
    outcome.repairs.push(...repairs);
    outcome.damaged.push(...left);
    const others = damage.others(network);
    await settleAlarm(database, network, {
      damaged: [...left, ...damage.dataFiles(network)],
      others,
      seen: (file) =>
        isLakeKey(file.key)
          ? readsFile(request, network, file)
          : rangesInclude(seen.get(`${network} ${file.kind}`) ?? [], file.from),
      everything: isEverything(request),
    });
  }
  if (options.rebuildLake === true) await rebuildLake(database, dataFiles, options);
  if (openRepair !== undefined) {
    outcome.standing =
      outcome.damaged.length +
      (summary.causes.manifest ?? 0) +
      (summary.causes.dataFile ?? 0) +
      request.networks.reduce((sum, network) => sum + damage.others(network), 0);
  }
  return outcome;
}

/** Whether an audit read a data file of the alarm, if it is still in its table. */
function readsFile(request: AuditRequest, network: string, { kind, from, to }: AlarmedFile): boolean {
  const file = { network, kind, firstBlock: from, lastBlock: to };
  const isWithin =
    request.kinds.includes(sourceKind(kind)) && intersectRanges([file], [request.range]).length > 0;
  return isWithin && choosesFile(request, file);
}

/** Has packers write data files again; that they are sound is for the next audit to say. */
async function rebuildLake(
  database: Database,
  findings: readonly Finding[],
  { onRebuild }: RunAuditOptions,
): Promise<void> {
  for (const finding of findings) {
    const { network, kind, from, to } = finding;
    if (kind === null || from === null || to === null) continue;
    await database.network(network).lake.rebuild(kind, { firstBlock: from, lastBlock: to });
    onRebuild?.(finding);
  }
}

/**
 * Repairs, then audits the rebuilt bundles together with the other kinds of their blocks: a bundle that is still
 * damaged is not repaired. Returns the repairs, and the remaining damage.
 */
async function repairAndLook(
  parts: AuditParts,
  found: readonly DamagedBundle[],
  openRepair: OpenRepair,
  options: RunAuditOptions,
  signal: AbortSignal,
): Promise<{ repairs: Repair[]; left: DamagedBundle[] }> {
  const { network } = found[0] as DamagedBundle;
  const rebuilt = await repairNetwork(parts, { network, damaged: found, openRepair }, signal);
  const ranges = unionRanges(rebuilt.filter(({ state }) => state === 'repaired').map(({ bundle }) => bundle));
  const again = createDamage();
  const [first, last] = [ranges[0], ranges.at(-1)];
  if (first !== undefined && last !== undefined) {
    await audit(
      parts,
      {
        networks: [network],
        kinds: KINDS,
        range: { firstBlock: first.firstBlock, lastBlock: last.lastBlock },
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
  const still = again.of(network);
  const repairs = rebuilt.map((repair) => judge(repair, still));
  for (const repair of repairs) {
    const { bundle, state } = repair;
    parts.context.metrics.count(
      'packhouse_repairs_total',
      'Damaged bundles that were to be repaired, by what came of it',
      { network, kind: bundle.kind, result: state },
    );
    options.onRepair?.(repair);
  }
  const notRepaired = rebuilt.filter(({ state }) => state !== 'repaired').map(({ bundle }) => bundle);
  return {
    repairs,
    left: [...notRepaired.filter((bundle) => !still.some((one) => isSame(one, bundle))), ...still],
  };
}

/** A rebuilt bundle with a finding in its new version is not repaired. */
function judge(repair: Repair, still: readonly DamagedBundle[]): Repair {
  const { bundle, state, version } = repair;
  const damage = state === 'repaired' ? still.find((one) => isSame(one, bundle)) : undefined;
  if (damage === undefined) return repair;
  const { network, kind, firstBlock, lastBlock } = bundle;
  const message = `${network} ${kind} ${firstBlock}-${lastBlock} is rebuilt as version ${version} and still damaged: ${damage.message}`;
  return { ...repair, state: 'failed', message };
}

function isSame(a: DamagedBundle, b: DamagedBundle): boolean {
  return a.kind === b.kind && a.firstBlock === b.firstBlock;
}

function isEverything({ kinds, range, sample }: AuditRequest): boolean {
  return kinds.length === KINDS.length && sample >= 1 && isWhole(range);
}
