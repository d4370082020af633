import { keyRequests, logKey } from '@packhouse/operations';
import type { Command } from 'commander';
import { operate } from '../../installation/operate.js';
import { addPlacedCommand, type Place } from '../../terminal/command.js';
import { type CliIo, print, printRows, table } from '../../terminal/io.js';
import { keyName } from './key-name.js';

const KEY = 'Prefix (ph_ and 8 characters), number, or whole key';

interface LogOptions extends Place {
  application?: string;
}

/** `packhouse keys log|requests`. */
export function addKeyLogCommands(keys: Command, io: CliIo): void {
  addPlacedCommand(
    keys,
    'log',
    'Log the requests of an API key or application for some minutes',
    'ph_3kTq9ZbX',
    '--application shop --minutes 30',
    'ph_3kTq9ZbX --params --minutes 15',
  )
    .argument('[key]', KEY)
    .option('--application <name>', 'All keys of this application')
    .option('--minutes <n>', 'Minutes, up to 1440; 0 ends it', '10')
    .option('--params', 'Parameters of calls too, cut and without secrets; one key, up to 15 minutes')
    .action(async (name: string | undefined, options: LogOptions & { minutes: string; params?: boolean }) => {
      const { application, minutes, params } = options;
      const asked = { key: keyNameOr(name), application, minutes, params };
      const row = await operate(io, options, logKey, asked);
      const { loggedUntil: until, subject } = row;
      const text =
        until === null
          ? `Requests of ${subject} are not logged.`
          : `Requests of ${subject} are logged until ${until.toISOString().slice(0, 19)}Z: packhouse keys requests ${name === undefined ? `--application ${JSON.stringify(application)}` : name.slice(0, 11)}`;
      await print(io, options.json ? row : text);
    });

  addPlacedCommand(
    keys,
    'requests',
    'List the logged requests of an API key or application, newest first',
    'ph_3kTq9ZbX --limit 50',
    '--application shop',
  )
    .argument('[key]', KEY)
    .option('--application <name>', 'All keys of this application')
    .option('--limit <n>', 'Number of them, up to 1000', '100')
    .action(async (name: string | undefined, options: LogOptions & { limit: string }) => {
      const { application, limit } = options;
      const asked = { key: keyNameOr(name), application, limit };
      const { requests } = await operate(io, options, keyRequests, asked);
      const hasParams = requests.some(({ params }) => params !== null);
      const lines = requests.map((each) => [
        each.at.toISOString(),
        each.prefix,
        each.network,
        each.method,
        String(each.calls || ''),
        String(each.status),
        each.outcome,
        each.ms.toFixed(1),
        String(each.units),
        String(each.bytes),
        String(each.leftOut || ''),
        ...(hasParams ? [each.params ?? ''] : []),
      ]);
      const head = [
        'TIME',
        'KEY',
        'NETWORK',
        'METHOD',
        'CALLS',
        'STATUS',
        'OUTCOME',
        'MS',
        'UNITS',
        'BYTES',
        'LEFT OUT',
        ...(hasParams ? ['PARAMETERS'] : []),
      ];
      await printRows(io, options, requests, {
        none: 'No logged requests. Turn the log on: packhouse keys log KEY',
        show: () => table([head, ...lines]),
      });
    });
}

const keyNameOr = (name: string | undefined): string | undefined =>
  name === undefined ? undefined : keyName(name);
