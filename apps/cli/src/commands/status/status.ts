import { type FullStatus, readStatus } from '@packhouse/operations';
import type { CoverageSummary, KindStatus, NetworkStatus } from '@packhouse/report';
import { createRates, type Rate, type Rates } from '@packhouse/report';
import { systemClock } from '@packhouse/runtime';
import type { Command } from 'commander';
import { operate } from '../../installation/operate.js';
import { addPlacedCommand, type Place } from '../../terminal/command.js';
import { formatBytes, formatCount, formatDuration, toPublicRange } from '../../terminal/format.js';
import { type CliIo, print } from '../../terminal/io.js';
import { table } from '../../terminal/table.js';
import { deadlineLine } from '../backfill/show.js';
import { alarmTable } from './alarms.js';
import { type HolesOptions, refuseWithoutHoles, showHoles } from './holes.js';
import {
  describeAudit,
  describeCauses,
  describeLeader,
  describeNotProved,
  describeOldest,
  describeReasons,
  describeStanding,
} from './lines.js';

interface StatusOptions extends Place, HolesOptions {
  network?: string;
  holes?: boolean;
}

/** How long the rate is measured, in milliseconds, if something is left to do. */
const SAMPLE_MS = 2_000;

/** `packhouse status`. */
export function addStatusCommand(program: Command, io: CliIo): void {
  addPlacedCommand(
    program,
    'status',
    'Show progress, rates, ETA and missing blocks per network and kind',
    '',
    '--holes --network ethereum --kinds logs --from 17000000',
  )
    .option('--network <id>', 'Only this network')
    .option('--holes', 'List published ranges and holes, each with its reason and next step')
    .option('--kinds <list>', 'With --holes: comma-separated kinds')
    .option('--from <block>', 'With --holes: first block (default: 0)')
    .option('--to <block>', 'With --holes: last block (default: the head)')
    .option(
      '--limit <n>',
      'With --holes: maximum holes per kind, 1 to 5000 (default: 50; with --json, 1000 per page)',
    )
    .action(async (options: StatusOptions) => {
      if (options.holes) {
        await showHoles(io, options);
        return;
      }
      refuseWithoutHoles(options);
      const rates = createRates();
      const poll = async (): Promise<FullStatus[]> => {
        const found = await operate(io, options, readStatus, { network: options.network });
        for (const { status } of found) rates.add(status, systemClock.elapsed());
        return found;
      };
      let found = await poll();
      if (found.some(({ status }) => isBusy(status))) {
        // Ctrl-C ends the wait, and what is known is shown.
        await systemClock.sleep(SAMPLE_MS, io.signal).catch(() => undefined);
        if (!io.signal.aborted) found = await poll();
      }
      if (!options.json) {
        await print(io, describe(found, rates));
        return;
      }
      for (const { status, summary, audit, late } of found) {
        const { last, superseded } = audit;
        await print(io, { ...asJson(status, summary, rates), lastAudit: last, superseded, late });
      }
    });
}

/** The sections of the status, with an empty line between them. */
function describe(found: readonly FullStatus[], rates: Rates): string {
  const statuses = found.map(({ status }) => status);
  const summaries = found.map(({ summary }) => summary);
  const rows = statuses.flatMap(({ kinds }) => kinds.map((kind) => row(kind, rates.of(kind))));
  const alarms = statuses.flatMap((status) => status.alarms);
  const sections: (string | null)[][] = [
    [table([HEADINGS, ...rows])],
    summaries.map(describeStanding),
    [describeReasons(summaries)],
    summaries.map(describeOldest),
    statuses.map(describeNotProved),
    statuses.flatMap(describeCauses),
    statuses.map(describeLeader),
    statuses.map(describePressure),
    found.flatMap(({ late }) => late.map(deadlineLine)),
    found.map(({ audit }) => describeAudit(audit)),
    [alarms.length === 0 ? null : alarmTable(alarms)],
  ];
  return sections
    .map((lines) => lines.filter((line) => line !== null))
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

const HEADINGS = [
  'NETWORK',
  'KIND',
  'REQUESTED',
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

/** A status with the coverage: complete through which block, and missing blocks by reason. */
function asJson(status: NetworkStatus, summary: CoverageSummary, rates: Rates): object {
  const { completeThrough, firstRequested, oldestQuarantine, queueSeen } = summary;
  return {
    ...status,
    completeThrough,
    firstRequested,
    oldestQuarantine: oldestQuarantine && toPublicRange(oldestQuarantine),
    queueSeen,
    kinds: status.kinds.map((kind) => {
      const covered = summary.kinds.find((each) => each.kind === kind.kind);
      return {
        ...kind,
        missing: kind.missing.map(toPublicRange),
        ...rates.of(kind),
        completeThrough: covered?.completeThrough ?? null,
        holes: covered?.missing ?? {},
      };
    }),
  };
}

function describePressure({ network, backPressure }: NetworkStatus): string | null {
  if (backPressure === null) return null;
  const { since, stagedBytes, limitBytes } = backPressure;
  const full = `${formatBytes(stagedBytes)} of ${formatBytes(limitBytes)}`;
  return `${network}: throttled (staging full, ${full}) since ${since.toISOString()}.`;
}

function row(kind: KindStatus, rate: Rate): string[] {
  return [
    kind.network,
    kind.kind,
    formatCount(kind.requested),
    formatCount(kind.staged),
    formatCount(kind.published),
    formatCount(kind.quarantined),
    formatCount(kind.bundles),
    formatBytes(kind.bytes),
    rate.blocksPerSecond.toFixed(1),
    rate.etaSeconds === null ? '-' : formatDuration(rate.etaSeconds),
  ];
}
