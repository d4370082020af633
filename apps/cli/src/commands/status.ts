import { type FullStatus, readStatus } from '@packhouse/operations';
import type { CoverageSummary, KindStatus, NetworkStatus } from '@packhouse/pipeline';
import { createRates, type Rate, type Rates } from '@packhouse/pipeline';
import { systemClock } from '@packhouse/runtime';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { formatBytes, formatCount, formatDuration } from '../terminal/format.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { withPlace } from '../terminal/place.js';
import { alarmTable } from './alarms.js';
import { deadlineLine } from './backfill-show.js';
import { type HolesOptions, refuseWithoutHoles, showHoles } from './status-holes.js';
import {
  describeAudit,
  describeCauses,
  describeNotProved,
  describeOldest,
  describeReasons,
  describeStanding,
} from './status-lines.js';

interface StatusOptions extends HolesOptions {
  server?: string;
  network?: string;
  holes?: boolean;
  dataDir?: string;
}

/** How long the rate is measured, in milliseconds, if something is left to do. */
const SAMPLE_MS = 2_000;

/** `packhouse status`. */
export function addStatusCommand(program: Command, io: CliIo): void {
  withPlace(program.command('status'))
    .description(
      'per network and kind: wanted, staged, published, quarantined, rate, ETA; what is missing and why',
    )
    .option('--network <id>', 'only this network')
    .option('--holes', 'exact published ranges, and every hole with its reason and what it needs')
    .option('--kind <kinds>', 'with --holes: only these, with commas between')
    .option('--from <block>', 'with --holes: from this block on (default 0)')
    .option('--to <block>', 'with --holes: up to this block (default: the head)')
    .option('--limit <n>', 'with --holes: holes of a kind on a page, 1 to 5000 (default 50; as JSON 1000)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ packhouse status\n  $ packhouse status --holes --network ethereum --kind logs --from 17000000',
    )
    .action(async (options: StatusOptions) => {
      if (!options.holes) refuseWithoutHoles(options);
      const { network } = options;
      if (options.holes) {
        await showHoles(io, options);
        return;
      }
      const rates = createRates();
      const look = async (): Promise<FullStatus[]> => {
        const found = await operate(io, options, readStatus, { network });
        for (const { status } of found) rates.add(status, systemClock.elapsed());
        return found;
      };
      let found = await look();
      if (found.some(({ status }) => isBusy(status))) {
        // Ctrl-C ends the wait, and what is known is shown.
        await systemClock.sleep(SAMPLE_MS, io.signal).catch(() => undefined);
        if (!io.signal.aborted) found = await look();
      }
      const statuses = found.map(({ status }) => status);
      const summaries = found.map(({ summary }) => summary);
      if (options.json) {
        for (const { status, summary, audit, late } of found) {
          const { last, superseded } = audit;
          await print(io, { ...asJson(status, summary, rates), lastAudit: last, superseded, late });
        }
        return;
      }
      const lines = statuses.flatMap((status) => status.kinds.map((kind) => row(kind, rates.of(kind))));
      await print(io, table([HEADINGS, ...lines]));
      if (summaries.length > 0) await print(io, `\n${summaries.map(describeStanding).join('\n')}`);
      const reasons = describeReasons(summaries);
      if (reasons !== null) await print(io, `\n${reasons}`);
      const oldest = summaries.map(describeOldest).filter((line) => line !== null);
      if (oldest.length > 0) await print(io, `\n${oldest.join('\n')}`);
      const notProved = statuses.map(describeNotProved).filter((lines) => lines !== null);
      if (notProved.length > 0) await print(io, `\n${notProved.join('\n')}`);
      const causes = statuses.flatMap(describeCauses);
      if (causes.length > 0) await print(io, `\n${causes.join('\n')}`);
      for (const { network, backPressure } of statuses) {
        if (backPressure !== null) await print(io, `\n${pressureLine(network, backPressure)}`);
      }
      const late = found
        .flatMap((each) => each.late)
        .map(deadlineLine)
        .filter((line) => line !== null);
      if (late.length > 0) await print(io, `\n${late.join('\n')}`);
      const audited = found.map(({ audit }) => describeAudit(audit)).filter((line) => line !== null);
      if (audited.length > 0) await print(io, `\n${audited.join('\n')}`);
      const alarms = statuses.flatMap((status) => status.alarms);
      if (alarms.length > 0) await print(io, `\n${alarmTable(alarms)}`);
    });
}

const HEADINGS = [
  'NETWORK',
  'KIND',
  'WANTED',
  'STAGED',
  'PUBLISHED',
  'QUARANTINED',
  'BUNDLES',
  'SIZE',
  'BLOCKS/S',
  'ETA',
];

/** Whether something remains to be fetched or packed. */
function isBusy({ kinds }: NetworkStatus): boolean {
  return kinds.some((kind) => kind.missing.length > 0 || kind.staged > 0);
}

/** A status with the coverage: up to which block it is complete, and missing blocks by reason. */
function asJson(status: NetworkStatus, summary: CoverageSummary, rates: Rates): object {
  const { completeTo, firstWanted, oldestQuarantine, queueSeen } = summary;
  return {
    ...status,
    completeTo,
    firstWanted,
    oldestQuarantine,
    queueSeen,
    kinds: status.kinds.map((kind) => {
      const covered = summary.kinds.find((each) => each.kind === kind.kind);
      return {
        ...kind,
        ...rates.of(kind),
        completeTo: covered?.completeTo ?? null,
        holes: covered?.missing ?? {},
      };
    }),
  };
}

function pressureLine(
  network: string,
  { since, stagedBytes, limitBytes }: NonNullable<NetworkStatus['backPressure']>,
): string {
  const full = `${formatBytes(stagedBytes)} of ${formatBytes(limitBytes)}`;
  return `${network}: staging is full (${full}) since ${since.toISOString()}; fetching waits for packing.`;
}

function row(kind: KindStatus, rate: Rate): string[] {
  return [
    kind.network,
    kind.kind,
    formatCount(kind.wanted),
    formatCount(kind.staged),
    formatCount(kind.published),
    formatCount(kind.quarantined),
    formatCount(kind.bundles),
    formatBytes(kind.bytes),
    rate.blocksPerSecond.toFixed(1),
    rate.etaSeconds === null ? '-' : formatDuration(rate.etaSeconds),
  ];
}
