import { type KindStatus, type NetworkStatus, networkStatus } from '@packhouse/pipeline';
import { PackhouseError, systemClock } from '@packhouse/runtime';
import type { Command } from 'commander';
import { withDatabase } from '../connect.js';
import { formatBytes, formatCount, formatDuration } from '../format.js';
import { type CliIo, print, table } from '../io.js';
import { createRates, type Rate } from '../rates.js';
import { alarmTable } from './alarms.js';

interface StatusOptions {
  network?: string;
  json?: boolean;
  dataDir?: string;
}

/** How long the rate is measured for, in milliseconds; only where something is left to do. */
const SAMPLE_MS = 2_000;

/** `packhouse status`. */
export function addStatusCommand(program: Command, io: CliIo): void {
  program
    .command('status')
    .description('per network and kind: wanted, staged, published, quarantined, rate, ETA')
    .option('--network <id>', 'only this network')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object a network and line')
    .addHelpText('after', '\nExample:\n  $ packhouse status')
    .action(async (options: StatusOptions) => {
      await withDatabase(io, options, async (database) => {
        const ids = (await database.networks.list()).map((network) => network.id);
        const networks = ids.filter((id) => options.network === undefined || id === options.network);
        if (options.network !== undefined && networks.length === 0)
          throw unknownNetwork(options.network, ids);
        const rates = createRates();
        const look = async (): Promise<NetworkStatus[]> => {
          const statuses = await Promise.all(networks.map((id) => networkStatus(database, id)));
          for (const status of statuses) rates.add(status, Date.now());
          return statuses;
        };
        let statuses = await look();
        if (statuses.some(isBusy)) {
          // Ctrl-C ends the wait: what is known by then is shown.
          await systemClock.sleep(SAMPLE_MS, io.signal).catch(() => undefined);
          statuses = await look();
        }
        if (options.json) {
          for (const status of statuses) {
            print(io, {
              ...status,
              kinds: status.kinds.map((kind) => ({ ...kind, ...rates.of(kind) })),
            });
          }
          return;
        }
        const lines = statuses.flatMap((status) => status.kinds.map((kind) => row(kind, rates.of(kind))));
        print(io, table([HEADINGS, ...lines]));
        for (const { network, backPressure } of statuses) {
          if (backPressure !== null) print(io, `\n${pressureLine(network, backPressure)}`);
        }
        const alarms = statuses.flatMap((status) => status.alarms);
        if (alarms.length > 0) print(io, `\n${alarmTable(alarms)}`);
      });
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

/** Whether something is still to be fetched or packed. */
function isBusy({ kinds }: NetworkStatus): boolean {
  return kinds.some((kind) => kind.missing.length > 0 || kind.staged > 0);
}

function pressureLine(
  network: string,
  { since, stagedBytes, limitBytes }: NonNullable<NetworkStatus['backPressure']>,
): string {
  const full = `${formatBytes(stagedBytes)} of ${formatBytes(limitBytes)}`;
  return `${network}: staging is full (${full}) since ${since.toISOString()}; fetching waits for packing to make room.`;
}

function unknownNetwork(wanted: string, known: readonly string[]): PackhouseError {
  return new PackhouseError({
    code: 'NETWORK_UNKNOWN',
    message: `The database does not know a network "${wanted}".`,
    hint: known.length === 0 ? 'It knows none yet.' : `It knows ${known.join(', ')}.`,
  });
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
