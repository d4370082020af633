import { keyRequests, logKey } from '@packhouse/operations';
import type { Command } from 'commander';
import { operate } from '../../installation/operate.js';
import { addPlacedCommand, type Place } from '../../terminal/command.js';
import { type CliIo, print, printRows, table } from '../../terminal/io.js';
import { keyName } from './key-name.js';

const KEY = 'Prefix (ph_ and 8 characters), number, or whole key';

/** `packhouse keys log|requests`. */
export function addKeyLogCommands(keys: Command, io: CliIo): void {
  addPlacedCommand(
    keys,
    'log',
    'Log the requests of an API key for some minutes, without parameters',
    'ph_3kTq9ZbX',
  )
    .argument('<key>', KEY)
    .option('--minutes <n>', 'Minutes, up to 1440; 0 ends it', '10')
    .action(async (name: string, options: Place & { minutes: string }) => {
      const row = await operate(io, options, logKey, { key: keyName(name), minutes: options.minutes });
      const { loggedUntil: until, prefix } = row;
      const text =
        until === null
          ? `Requests of ${prefix} are not logged.`
          : `Requests of ${prefix} are logged until ${until.toISOString().slice(0, 19)}Z: packhouse keys requests ${prefix}`;
      await print(io, options.json ? row : text);
    });

  addPlacedCommand(
    keys,
    'requests',
    'List the logged requests of an API key, newest first',
    'ph_3kTq9ZbX --limit 50',
  )
    .argument('<key>', KEY)
    .option('--limit <n>', 'Number of them, up to 1000', '100')
    .action(async (name: string, options: Place & { limit: string }) => {
      const { requests } = await operate(io, options, keyRequests, {
        key: keyName(name),
        limit: options.limit,
      });
      const lines = requests.map((each) => [
        each.at.toISOString(),
        each.network,
        each.method,
        String(each.calls || ''),
        String(each.status),
        each.outcome,
        each.ms.toFixed(1),
        String(each.units),
        String(each.bytes),
        String(each.leftOut || ''),
      ]);
      const head = [
        'TIME',
        'NETWORK',
        'METHOD',
        'CALLS',
        'STATUS',
        'OUTCOME',
        'MS',
        'UNITS',
        'BYTES',
        'LEFT OUT',
      ];
      await printRows(io, options, requests, {
        none: 'No logged requests. Turn the log on: packhouse keys log KEY',
        show: () => table([head, ...lines]),
      });
    });
}
