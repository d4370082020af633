import { KINDS } from '@packhouse/chain';
import type { WantedRange } from '@packhouse/database';
import {
  addBackfill,
  checkTerms,
  listBackfills,
  setBackfill,
  showBackfill,
  steerBackfill,
  type Terms,
} from '@packhouse/operations';
import { PackhouseError, systemClock } from '@packhouse/runtime';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { checkRange, parseBlockNumber, parseInteger, parseKinds } from '../terminal/parse.js';
import { withPlace } from '../terminal/place.js';
import { backfillLines, deadlineLine } from './backfill-show.js';
import {
  addTermOptions,
  describeTermChange,
  describeTerms,
  parseTerms,
  type TermOptions,
} from './backfill-terms.js';

interface Place {
  server?: string;
  json?: boolean;
  dataDir?: string;
}

interface OrderOptions extends Place {
  network: string;
  from: string;
  to: string;
  kinds: string;
}

/** Ranges that are read at a time. */
const PAGE = 10_000;

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

  withPlace(addTermOptions(backfill.command('add').description('order a range')))
    .requiredOption('--network <id>', 'the network, as the networks file names it')
    .requiredOption('--from <block>', 'the first block')
    .option('--to <block>', 'the last block, or follow: keep up with the head', 'follow')
    .option('--kinds <list>', `all, or some of ${KINDS.join(',')}`, 'all')
    .option('--priority <n>', `1 is first, 1000 last (default: ${DEFAULT_PRIORITY})`)
    .option('--dry-run', 'order nothing, and print what `backfill quote` does')
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
        if (options.server !== undefined) throw quotesHere();
        await printQuote(io, options);
        return;
      }
      const order = { network: options.network, kinds: [...kinds], start, end, ...sent(terms) };
      const { range, outlook } = await operate(io, options, addBackfill, order);
      await print(io, options.json ? range : `Backfill ${range.id} is wanted: ${describe(range)}.`);
      await printDeadline(io, outlook, options);
    });

  withPlace(
    addTermOptions(
      backfill
        .command('set')
        .description('change the terms of a backfill')
        .argument('<id>', 'its number in `packhouse backfill list`')
        .option('--priority <n>', '1 is first, 1000 last'),
    ),
  )
    .addHelpText('after', '\nExample:\n  $ packhouse backfill set 7 --priority 10 --weight 1 --window none')
    .action(async (given: string, options: TermOptions & Place) => {
      const id = parseId(given);
      const terms = await parseTerms(options, systemClock.now());
      if (Object.keys(terms).length === 0) {
        throw new PackhouseError({
          code: 'USAGE',
          message: '`packhouse backfill set` takes what is to be changed.',
          hint: 'For example --priority 10. See --help.',
        });
      }
      const { before, range, outlook } = await operate(io, options, setBackfill, { id, ...sent(terms) });
      const change = describeTermChange({ ...before }, { ...range });
      const said = change === null ? 'is as it was' : `is changed (${change})`;
      await print(io, options.json ? range : `Backfill ${id} ${said}: ${describe(range)}.`);
      await printDeadline(io, outlook, options);
    });

  withPlace(backfill.command('show'))
    .description('show how far a backfill is, what it waits for right now, and who changed it')
    .argument('<id>', 'its number in `packhouse backfill list`')
    .addHelpText('after', '\nExample:\n  $ packhouse backfill show 7')
    .action(async (given: string, options: Place) => {
      const shown = await operate(io, options, showBackfill, { id: parseId(given) });
      await print(io, options.json ? shown : backfillLines(shown));
    });

  withPlace(backfill.command('list'))
    .description('list the ordered ranges')
    .option('--network <id>', 'only this network')
    .addHelpText('after', '\nExample:\n  $ packhouse backfill list')
    .action(async (options: Place & { network?: string }) => {
      const rows: WantedRange[] = [];
      for (let more = true; more; ) {
        const place = { network: options.network, after: rows.at(-1)?.id, limit: PAGE };
        const page = await operate(io, options, listBackfills, place);
        rows.push(...page.rows);
        more = page.more;
      }
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

  const change = (name: 'pause' | 'resume' | 'cancel', description: string, done: string): void => {
    withPlace(backfill.command(name))
      .description(description)
      .argument('<id>', 'its number in `packhouse backfill list`')
      .addHelpText('after', `\nExample:\n  $ packhouse backfill ${name} 3`)
      .action(async (id: string, options: Place) => {
        const row = await operate(io, options, steerBackfill, { id: parseId(id), action: name });
        await print(io, options.json ? row : `Backfill ${row.id} ${done}: ${describe(row)}.`);
      });
  };
  change('pause', 'stop fetching for now; what is staged stays', 'is paused');
  change('resume', 'continue a paused or cancelled backfill', 'continues');
  change('cancel', 'stop it for good; what is published stays', 'is cancelled');
}

const DEFAULT_PRIORITY = 100;

function parseId(text: string): number {
  return parseInteger(text, 'The backfill', 1, Number.MAX_SAFE_INTEGER);
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

/** Terms as an operation takes them. */
function sent({ windows, deadline, ...terms }: Partial<Terms>) {
  return {
    ...terms,
    ...(windows === undefined ? {} : { windows: [...windows] }),
    ...(deadline === undefined ? {} : { deadline: deadline === null ? null : deadline.toISOString() }),
  };
}

/** The nodes are asked from here, with the networks file of this machine. */
function quotesHere(): PackhouseError {
  return new PackhouseError({
    code: 'USAGE',
    message: '--dry-run asks nodes from this machine, and --server names a console elsewhere.',
    hint: 'Leave one of them out.',
  });
}

/** Says at once whether a deadline can be met, on stderr if the output is JSON. */
async function printDeadline(
  io: CliIo,
  outlook: Parameters<typeof deadlineLine>[0] | null,
  options: Place,
): Promise<void> {
  const line = outlook === null ? null : deadlineLine(outlook);
  if (line === null) return;
  if (options.json) io.stderr.write(`${line}\n`);
  else await print(io, line);
}

function describe(row: WantedRange): string {
  const range = row.end === null ? `from ${row.start} on, following the head` : `${row.start} to ${row.end}`;
  return `${row.network} ${range}, ${row.kinds.join(', ')}, ${describeTerms(row)}`;
}
