import { KINDS } from '@packhouse/chain';
import type { Backfill } from '@packhouse/database';
import {
  addBackfill,
  checkTerms,
  listBackfills,
  setBackfill,
  setBackfillState,
  showBackfill,
} from '@packhouse/operations';
import { systemClock } from '@packhouse/runtime';
import type { Command } from 'commander';
import { operate } from '../../installation/operate.js';
import { list, one, resource } from '../../installation/resource.js';
import { addCommand, addPlacedCommand, type Place, withDataDir } from '../../terminal/command.js';
import { type CliIo, print } from '../../terminal/io.js';
import { checkRange, parseBlockNumber, parseKinds, usageError } from '../../terminal/parse.js';
import { backfillLines, deadlineLine, describeBlocks } from './show.js';
import { addTermOptions, describeTermChange, describeTerms, parseTerms, type TermOptions } from './terms.js';

interface RangeOptions extends Place {
  network: string;
  from: string;
  to: string;
  kinds: string;
}

interface AddOptions extends RangeOptions, TermOptions {
  dryRun?: boolean;
}

const ID = ['<id>', 'Id in `packhouse backfill list`'] as const;
/** Fields of other names than their options. */
const FLAGS = { id: 'The id', windows: '--window' };

const setState = (state: 'paused' | 'active' | 'cancelled', about: string, done: string) => {
  const reason = ['--reason <text>', 'Why, shown with your name'] as const;
  return one(setBackfillState, {
    about,
    examples: ['3'],
    fields: { id: ID, ...(state !== 'active' && { reason }) },
    fixed: { state },
    say: (row) => `Backfill ${row.id} ${done}: ${describe(row)}.`,
  });
};

export const addBackfillCommand = resource(
  'backfill',
  'Quote, add, list, show, change, pause, resume and cancel backfills',
  'add --network ethereum --from 17000000',
  {
    quote: addQuoteCommand,
    add: addAddCommand,
    set: addSetCommand,
    show: one(showBackfill, {
      about: 'Show progress, waits and history of a backfill',
      examples: ['7'],
      fields: { id: ID },
      say: backfillLines,
    }),
    list: list(listBackfills, {
      about: 'List backfills',
      fields: { network: ['--network <id>', 'Only this network'] },
      empty: 'No backfills yet. Add one: packhouse backfill add --network NAME --from BLOCK',
      columns: {
        ID: (row) => row.id,
        NETWORK: (row) => row.network,
        RANGE: (row) => `${row.from}-${row.to ?? 'head'}`,
        KINDS: (row) => row.kinds.join(','),
        PRIORITY: (row) => row.priority,
        OWNER: (row) => row.owner,
        WEIGHT: (row) => row.weight,
        STATE: (row) => row.state,
      },
    }),
    pause: setState('paused', 'Pause a backfill; staged blocks are kept', 'paused'),
    resume: setState('active', 'Resume a paused or cancelled backfill', 'resumed'),
    cancel: setState('cancelled', 'Cancel a backfill; published blocks are kept', 'cancelled'),
  },
);

function addQuoteCommand(group: Command, io: CliIo, name: string): void {
  withDataDir(
    addRangeOptions(
      addCommand(
        group,
        name,
        'Estimate requests, bytes and time of a backfill, from at most 100 requests',
        '--network ethereum --from 17000000 --to 17999999 --kinds logs,receipts',
      ),
    ),
  )
    .option('--json', 'Print one JSON object')
    .action((options: RangeOptions) => printQuote(io, options));
}

function addAddCommand(group: Command, io: CliIo, name: string): void {
  addTermOptions(
    addRangeOptions(
      addPlacedCommand(
        group,
        name,
        'Add a backfill',
        '--network ethereum --from 17000000 --to 17999999 --kinds logs,receipts',
        '--network ethereum --from 0 --to 999999 --owner analytics --window "Sat,Sun" --max-requests 5M',
      ),
    ),
  )
    .option('--priority <n>', 'Priority, 1 (first) to 1000 (last) (default: 100)')
    .option('--dry-run', 'Add nothing, and print the quote')
    .action(async (options: AddOptions) => {
      const { from, to, kinds } = parseRange(options);
      const terms = parseTerms(options, systemClock.now());
      if (options.dryRun) {
        checkTerms({ to }, terms);
        // The nodes are asked from here, with the networks file of this machine.
        if (options.server !== undefined)
          throw usageError('--dry-run cannot be combined with --server.', 'Leave one of them out.');
        await printQuote(io, options);
        return;
      }
      const order = { network: options.network, kinds: [...kinds], from, to, ...terms };
      const { range, outlook } = await operate(io, options, addBackfill, order, FLAGS);
      await print(io, options.json ? range : `Backfill ${range.id} added: ${describe(range)}.`);
      await printDeadline(io, outlook, options);
    });
}

function addSetCommand(group: Command, io: CliIo, name: string): void {
  addTermOptions(
    addPlacedCommand(
      group,
      name,
      'Change the terms of a backfill',
      '7 --priority 10 --weight 1 --window none',
    ),
  )
    .argument(...ID)
    .option('--priority <n>', 'Priority, 1 (first) to 1000 (last)')
    .action(async (id: string, options: TermOptions & Place) => {
      const terms = parseTerms(options, systemClock.now());
      if (Object.values(terms).every((term) => term === undefined)) {
        throw usageError('No change is given.', 'For example --priority 10. See --help.');
      }
      const { before, range, outlook } = await operate(io, options, setBackfill, { id, ...terms }, FLAGS);
      const change = describeTermChange({ ...before }, { ...range });
      const outcome = change === null ? 'unchanged' : `changed (${change})`;
      await print(io, options.json ? range : `Backfill ${id} ${outcome}: ${describe(range)}.`);
      await printDeadline(io, outlook, options);
    });
}

function addRangeOptions(command: Command): Command {
  return command
    .requiredOption('--network <id>', 'Network, as named in the networks file')
    .requiredOption('--from <block>', 'First block')
    .option('--to <block>', 'Last block, or "follow" to follow the head', 'follow')
    .option('--kinds <list>', `Comma-separated kinds: ${KINDS.join(', ')}`, 'all');
}

function parseRange(options: RangeOptions): Pick<Backfill, 'from' | 'to' | 'kinds'> {
  const from = parseBlockNumber(options.from, '--from');
  const to = options.to === 'follow' ? null : parseBlockNumber(options.to, '--to');
  if (to !== null) checkRange(from, to);
  return { from, to, kinds: parseKinds(options.kinds) };
}

/** The pipeline and the client of nodes are loaded for this only. */
async function printQuote(io: CliIo, options: RangeOptions): Promise<void> {
  const { network, json, dataDir } = options;
  const { showQuote } = await import('./quote.js');
  await showQuote(io, { ...parseRange(options), network, json, dataDir });
}

/** Prints whether a deadline can be met, on stderr if the output is JSON. */
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

function describe(row: Backfill): string {
  return `${row.network} ${describeBlocks(row)}, ${row.kinds.join(', ')}, ${describeTerms(row)}`;
}
