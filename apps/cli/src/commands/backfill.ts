import { KINDS } from '@packhouse/chain';
import type { WantedRange } from '@packhouse/database';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { withDatabase } from '../installation/connect.js';
import { operatorName } from '../installation/operator.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { checkRange, parseBlockNumber, parseInteger, parseKinds } from '../terminal/parse.js';

interface AddOptions {
  network: string;
  from: string;
  to: string;
  kinds: string;
  priority: string;
  json?: boolean;
  dataDir?: string;
}

/** `packhouse backfill add|list|pause|resume|cancel`. */
export function addBackfillCommand(program: Command, io: CliIo): void {
  const backfill = program
    .command('backfill')
    .description('order ranges, and list, pause, resume and cancel them')
    .addHelpText('after', '\nExample:\n  $ packhouse backfill add --network ethereum --from 17000000');

  backfill
    .command('add')
    .description('order a range')
    .requiredOption('--network <id>', 'the network, as the networks file names it')
    .requiredOption('--from <block>', 'the first block')
    .option('--to <block>', 'the last block, or follow: keep up with the head', 'follow')
    .option('--kinds <list>', `all, or some of ${KINDS.join(',')}`, 'all')
    .option('--priority <n>', '1 is first, 1000 last', '100')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  $ packhouse backfill add --network ethereum --from 17000000 --to 17999999 --kinds logs,receipts',
    )
    .action(async (options: AddOptions) => {
      const start = parseBlockNumber(options.from, '--from');
      const end = options.to === 'follow' ? null : parseBlockNumber(options.to, '--to');
      if (end !== null) checkRange(start, end);
      const kinds = parseKinds(options.kinds);
      const priority = parseInteger(options.priority, '--priority', 1, 1000);
      const row = await withDatabase(io, options, (database) =>
        database.network(options.network).wanted.add({ kinds, start, end, priority }, operatorName(io)),
      );
      await print(io, options.json ? row : `Backfill ${row.id} is wanted: ${describe(row)}.`);
    });

  backfill
    .command('list')
    .description('list the ordered ranges')
    .option('--network <id>', 'only this network')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object a line')
    .addHelpText('after', '\nExample:\n  $ packhouse backfill list')
    .action(async (options: { network?: string; json?: boolean; dataDir?: string }) => {
      const rows = await withDatabase(io, options, (database) =>
        (options.network === undefined ? database : database.network(options.network)).wanted.list(),
      );
      if (options.json) for (const row of rows) await print(io, row);
      else {
        const lines = rows.map((row) => [
          String(row.id),
          row.network,
          `${row.start}-${row.end ?? 'follow'}`,
          row.kinds.join(','),
          String(row.priority),
          row.state,
        ]);
        await print(io, table([['ID', 'NETWORK', 'RANGE', 'KINDS', 'PRIORITY', 'STATE'], ...lines]));
      }
    });

  const change = (name: string, state: WantedRange['state'], description: string, done: string): void => {
    backfill
      .command(name)
      .description(description)
      .argument('<id>', 'its number in `packhouse backfill list`')
      .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
      .option('--json', 'print one JSON object')
      .addHelpText('after', `\nExample:\n  $ packhouse backfill ${name} 3`)
      .action(async (id: string, options: { json?: boolean; dataDir?: string }) => {
        const number = parseInteger(id, 'The backfill', 1, Number.MAX_SAFE_INTEGER);
        const changed = await withDatabase(io, options, (database) =>
          database.wanted.change(number, { state }, { who: operatorName(io), action: name }),
        );
        if (changed === null) {
          throw new PackhouseError({
            code: 'BACKFILL_UNKNOWN',
            message: `There is no backfill ${number}.`,
            hint: 'See `packhouse backfill list`.',
          });
        }
        const row = changed.after;
        await print(io, options.json ? row : `Backfill ${row.id} ${done}: ${describe(row)}.`);
      });
  };
  change('pause', 'paused', 'stop fetching for now; what is staged stays', 'is paused');
  change('resume', 'active', 'continue a paused or cancelled backfill', 'continues');
  change('cancel', 'cancelled', 'stop it for good; what is published stays', 'is cancelled');
}

function describe(row: WantedRange): string {
  const range = row.end === null ? `from ${row.start} on, following the head` : `${row.start} to ${row.end}`;
  return `${row.network} ${range}, ${row.kinds.join(', ')}, priority ${row.priority}`;
}
