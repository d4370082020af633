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
import type { Command } from 'commander';
import type { z } from 'zod';
import { operate } from '../../installation/operate.js';
import { addFields } from '../../installation/operation-fields.js';
import { list, one, resource } from '../../installation/resource.js';
import { addCommand, addPlacedCommand, type Place, withDataDir } from '../../terminal/command.js';
import { type CliIo, print } from '../../terminal/io.js';
import { checkRange, parseBlockNumber, parseKinds, usageError } from '../../terminal/parse.js';
import { backfillLines, deadlineLine, describeBlocks } from './show.js';
import { describeTermChange, describeTerms, TERMS } from './terms.js';

const ID = ['<id>', 'Id in `packhouse backfill list`'] as const;
const RANGE = {
  network: ['--network <id>', 'Network, as named in the networks file'],
  from: ['--from <block>', 'First block', { read: parseBlockNumber }],
  to: [
    '--to <block>',
    'Last block, or "follow" to follow the head',
    { usual: 'follow', none: 'follow', read: parseBlockNumber },
  ],
  kinds: ['--kinds <list>', `Comma-separated kinds: ${KINDS.join(', ')}`, { usual: 'all', read: parseKinds }],
} as const;

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
  const command = addCommand(
    group,
    name,
    'Estimate requests, bytes and time of a backfill, from at most 100 requests',
    '--network ethereum --from 17000000 --to 17999999 --kinds logs,receipts',
  );
  const fields = addFields(command, addBackfill, RANGE);
  withDataDir(command)
    .option('--json', 'Print one JSON object')
    .action(async () => printQuote(io, await readOrder(io, fields), command.opts()));
}

function addAddCommand(group: Command, io: CliIo, name: string): void {
  const command = addPlacedCommand(
    group,
    name,
    'Add a backfill',
    '--network ethereum --from 17000000 --to 17999999 --kinds logs,receipts',
    '--network ethereum --from 0 --to 999999 --owner analytics --window "Sat,Sun" --max-requests 5M',
  );
  const fields = addFields(command, addBackfill, {
    ...RANGE,
    ...TERMS,
    priority: ['--priority <n>', 'Priority, 1 (first) to 1000 (last) (default: 100)'],
  });
  command.option('--dry-run', 'Add nothing, and print the quote').action(async () => {
    const { dryRun, ...place } = command.opts<Place & { dryRun?: boolean }>();
    const order = await readOrder(io, fields);
    if (dryRun) {
      checkTerms(order, order);
      // The nodes are asked from here, with the networks file of this machine.
      if (place.server !== undefined)
        throw usageError('--dry-run cannot be combined with --server.', 'Leave one of them out.');
      await printQuote(io, order, place);
      return;
    }
    const { range, outlook } = await operate(io, place, addBackfill, order, fields.flags);
    await report(io, place, 'added', { range, outlook });
  });
}

function addSetCommand(group: Command, io: CliIo, name: string): void {
  const command = addPlacedCommand(
    group,
    name,
    'Change the terms of a backfill',
    '7 --priority 10 --weight 1 --window none',
  );
  const fields = addFields(command, setBackfill, {
    id: ID,
    ...TERMS,
    priority: ['--priority <n>', 'Priority, 1 (first) to 1000 (last)'],
  });
  command.action(async () => {
    if (!fields.hasOption())
      throw usageError('No change is given.', 'For example --priority 10. See --help.');
    const input = await fields.read(io, 'none');
    const { before, ...after } = await operate(io, command.opts(), setBackfill, input, fields.flags);
    const change = describeTermChange({ ...before }, { ...after.range });
    await report(io, command.opts(), change === null ? 'unchanged' : `changed (${change})`, after);
  });
}

type Order = z.input<typeof addBackfill.input> & Pick<Backfill, 'network' | 'from' | 'to' | 'kinds'>;

/** The given range and terms. Throws RANGE_INVALID. */
async function readOrder(
  io: CliIo,
  fields: ReturnType<typeof addFields<typeof addBackfill.input>>,
): Promise<Order> {
  const order = (await fields.read(io, 'none')) as Order;
  if (order.to !== null) checkRange(order.from, order.to);
  return order;
}

/** The pipeline and the client of nodes are loaded for this only. */
async function printQuote(
  io: CliIo,
  { network, from, to, kinds }: Order,
  { json, dataDir }: Place,
): Promise<void> {
  const { showQuote } = await import('./quote.js');
  await showQuote(io, { network, from, to, kinds, json, dataDir });
}

/** Prints what became of a backfill, and whether its deadline can be met: on stderr if the output is JSON. */
async function report(
  io: CliIo,
  { json }: Place,
  outcome: string,
  { range, outlook }: Awaited<ReturnType<typeof addBackfill.run>>,
): Promise<void> {
  await print(io, json ? range : `Backfill ${range.id} ${outcome}: ${describe(range)}.`);
  const line = outlook === null ? null : deadlineLine(outlook);
  if (line === null) return;
  if (json) io.stderr.write(`${line}\n`);
  else await print(io, line);
}

function describe(row: Backfill): string {
  return `${row.network} ${describeBlocks(row)}, ${row.kinds.join(', ')}, ${describeTerms(row)}`;
}
