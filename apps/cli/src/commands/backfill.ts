import { KINDS } from '@packhouse/chain';
import type { Database, WantedRange } from '@packhouse/database';
import { PackhouseError, systemClock } from '@packhouse/runtime';
import type { Command } from 'commander';
import { withDatabase } from '../installation/connect.js';
import { operatorName } from '../installation/operator.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { checkRange, parseBlockNumber, parseInteger, parseKinds } from '../terminal/parse.js';
import {
  addTermOptions,
  checkTerms,
  describeTermChange,
  describeTerms,
  parseTerms,
  type TermOptions,
} from './backfill-terms.js';

interface OrderOptions {
  network: string;
  from: string;
  to: string;
  kinds: string;
  json?: boolean;
  dataDir?: string;
}

interface AddOptions extends OrderOptions, TermOptions {
  dryRun?: boolean;
}

/** `packhouse backfill quote|add|set|show|list|pause|resume|cancel`. */
export function addBackfillCommand(program: Command, io: CliIo): void {
  const backfill = program
    .command('backfill')
    .description(
      'quote and order ranges, list and show them, change their terms, pause, resume and cancel them',
    )
    .addHelpText('after', '\nExample:\n  $ packhouse backfill add --network ethereum --from 17000000');

  backfill
    .command('quote')
    .description('say what a range would take: requests, bytes, time; from at most 100 node calls')
    .requiredOption('--network <id>', 'the network, as the networks file names it')
    .requiredOption('--from <block>', 'the first block')
    .option('--to <block>', 'the last block, or follow: up to the head', 'follow')
    .option('--kinds <list>', `all, or some of ${KINDS.join(',')}`, 'all')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  $ packhouse backfill quote --network ethereum --from 17000000 --to 17999999 --kinds logs,receipts',
    )
    .action((options: OrderOptions) => printQuote(io, options));

  addTermOptions(backfill.command('add').description('order a range'))
    .requiredOption('--network <id>', 'the network, as the networks file names it')
    .requiredOption('--from <block>', 'the first block')
    .option('--to <block>', 'the last block, or follow: keep up with the head', 'follow')
    .option('--kinds <list>', `all, or some of ${KINDS.join(',')}`, 'all')
    .option('--priority <n>', `1 is first, 1000 last (default: ${DEFAULT_PRIORITY})`)
    .option('--dry-run', 'order nothing, and print what `backfill quote` does')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  $ packhouse backfill add --network ethereum --from 17000000 --to 17999999 --kinds logs,receipts' +
        '\n  $ packhouse backfill add --network ethereum --from 0 --to 999999 --owner analytics --window "Sat,Sun" --max-requests 5M',
    )
    .action(async (options: AddOptions) => {
      const { start, end, kinds } = parseOrder(options);
      const terms = await parseTerms(options, systemClock.now());
      checkTerms({ end }, terms);
      if (options.dryRun) {
        await printQuote(io, options);
        return;
      }
      await withDatabase(io, options, async (database) => {
        const range = { kinds, start, end, priority: DEFAULT_PRIORITY, ...terms };
        const row = await database.network(options.network).wanted.add(range, operatorName(io));
        await print(io, options.json ? row : `Backfill ${row.id} is wanted: ${describe(row)}.`);
        await printDeadline(io, database, row, options);
      });
    });

  addTermOptions(
    backfill
      .command('set')
      .description('change the terms of a backfill')
      .argument('<id>', 'its number in `packhouse backfill list`')
      .option('--priority <n>', '1 is first, 1000 last'),
  )
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ packhouse backfill set 7 --priority 10 --weight 1 --window none')
    .action(async (given: string, options: TermOptions & { json?: boolean; dataDir?: string }) => {
      const id = parseId(given);
      const terms = await parseTerms(options, systemClock.now());
      if (Object.keys(terms).length === 0) {
        throw new PackhouseError({
          code: 'USAGE',
          message: '`packhouse backfill set` takes what is to be changed.',
          hint: 'For example --priority 10. See --help.',
        });
      }
      await withDatabase(io, options, async (database) => {
        checkTerms((await database.wanted.find(id)) ?? unknownBackfill(id), terms);
        const changed = await database.wanted.change(id, terms, { who: operatorName(io) });
        const { before, after } = changed ?? unknownBackfill(id);
        const change = describeTermChange({ ...before }, { ...after });
        const said = change === null ? 'is as it was' : `is changed (${change})`;
        await print(io, options.json ? after : `Backfill ${id} ${said}: ${describe(after)}.`);
        await printDeadline(io, database, after, options);
      });
    });

  backfill
    .command('show')
    .description('show how far a backfill is, what it waits for right now, and who changed it')
    .argument('<id>', 'its number in `packhouse backfill list`')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ packhouse backfill show 7')
    .action(async (given: string, options: { json?: boolean; dataDir?: string }) => {
      const id = parseId(given);
      await withDatabase(io, options, async (database) => {
        const range = (await database.wanted.find(id)) ?? unknownBackfill(id);
        const { showBackfill } = await import('./backfill-show.js');
        await showBackfill(io, database, range, options);
      });
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
          row.owner,
          String(row.weight),
          row.state,
        ]);
        const headings = ['ID', 'NETWORK', 'RANGE', 'KINDS', 'PRIORITY', 'OWNER', 'WEIGHT', 'STATE'];
        await print(io, table([headings, ...lines]));
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
        const number = parseId(id);
        const changed = await withDatabase(io, options, (database) =>
          database.wanted.change(number, { state }, { who: operatorName(io), action: name }),
        );
        const row = (changed ?? unknownBackfill(number)).after;
        await print(io, options.json ? row : `Backfill ${row.id} ${done}: ${describe(row)}.`);
      });
  };
  change('pause', 'paused', 'stop fetching for now; what is staged stays', 'is paused');
  change('resume', 'active', 'continue a paused or cancelled backfill', 'continues');
  change('cancel', 'cancelled', 'stop it for good; what is published stays', 'is cancelled');
}

const DEFAULT_PRIORITY = 100;

function parseId(text: string): number {
  return parseInteger(text, 'The backfill', 1, Number.MAX_SAFE_INTEGER);
}

function unknownBackfill(id: number): never {
  throw new PackhouseError({
    code: 'BACKFILL_UNKNOWN',
    message: `There is no backfill ${id}.`,
    hint: 'See `packhouse backfill list`.',
  });
}

function parseOrder(options: OrderOptions): Pick<WantedRange, 'start' | 'end' | 'kinds'> {
  const start = parseBlockNumber(options.from, '--from');
  const end = options.to === 'follow' ? null : parseBlockNumber(options.to, '--to');
  if (end !== null) checkRange(start, end);
  return { start, end, kinds: parseKinds(options.kinds) };
}

/** The pipeline and the client of nodes are loaded for this only. */
async function printQuote(io: CliIo, options: OrderOptions): Promise<void> {
  const { network, json, dataDir } = options;
  const order = parseOrder(options);
  const { showQuote } = await import('./backfill-quote.js');
  await showQuote(io, { ...order, network, json, dataDir });
}

/** Says at once whether a deadline can be met, on stderr if the output is JSON. */
async function printDeadline(
  io: CliIo,
  database: Database,
  range: WantedRange,
  options: { json?: boolean; dataDir?: string },
): Promise<void> {
  if (range.deadline === null) return;
  const { deadlineOf } = await import('./backfill-show.js');
  const line = await deadlineOf(io, database, range, options);
  if (line === null) return;
  if (options.json) io.stderr.write(`${line}\n`);
  else await print(io, line);
}

function describe(row: WantedRange): string {
  const range = row.end === null ? `from ${row.start} on, following the head` : `${row.start} to ${row.end}`;
  return `${row.network} ${range}, ${row.kinds.join(', ')}, ${describeTerms(row)}`;
}
