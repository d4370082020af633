import type { BlockRange } from '@packhouse/chain';
import type { Database, QuarantineRow } from '@packhouse/database';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { unknownNetwork, withDatabase } from '../installation/connect.js';
import { counted, formatRange } from '../terminal/format.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { checkRange, parseBlockNumber, parseInteger } from '../terminal/parse.js';
import { advice, describeRow, nextTry, standing, whyFine } from './quarantine-lines.js';

interface Options {
  network?: string;
  json?: boolean;
  dataDir?: string;
}

interface ListOptions extends Options {
  cause?: string;
  after?: string;
  limit: string;
}

const EVERYTHING: BlockRange = { start: 0, end: Number.MAX_SAFE_INTEGER };

/** `packhouse quarantine list|show|retry`. */
export function addQuarantineCommand(program: Command, io: CliIo): void {
  const quarantine = program
    .command('quarantine')
    .description('blocks that fail their proofs, or that no node has')
    .addHelpText('after', '\nExample:\n  $ packhouse quarantine list');

  quarantine
    .command('list')
    .description('list what is quarantined, by network and block')
    .option('--network <id>', 'only this network')
    .option('--cause <code>', 'only what failed for this reason, e.g. PROOF_FAILED')
    .option('--after <block>', 'continue after this block; needs --network if there are several')
    .option('--limit <n>', 'rows at most, 1 to 10000', '50')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object a line')
    .addHelpText('after', '\nExample:\n  $ packhouse quarantine list --network ethereum --cause PROOF_FAILED')
    .action(async (options: ListOptions) => {
      const limit = parseInteger(options.limit, '--limit', 1, 10_000);
      const { rows, more } = await withDatabase(io, options, (database) => list(database, options, limit));
      if (options.json) {
        for (const row of rows) await print(io, row);
        return;
      }
      if (rows.length === 0) {
        await print(io, 'Nothing is quarantined.');
        return;
      }
      const now = Date.now();
      const lines = rows.map((row) => [
        row.network,
        formatRange(row.number, row.end),
        row.kinds.join(','),
        row.cause,
        row.upstream ?? '-',
        String(row.attempts),
        nextTry(row, now),
      ]);
      await print(
        io,
        table([['NETWORK', 'BLOCKS', 'KINDS', 'CAUSE', 'UPSTREAM', 'TRIES', 'NEXT TRY'], ...lines]),
      );
      const last = rows.at(-1);
      if (more && last !== undefined) {
        await print(io, `There is more: add --network ${last.network} --after ${last.number}.`);
      }
    });

  quarantine
    .command('show')
    .description('all that is known of a quarantined block, and what to do about it')
    .argument('<block>', 'its number')
    .option('--network <id>', 'its network, if there are several')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ packhouse quarantine show 17000123')
    .action(async (block: string, options: Options) => {
      const number = parseBlockNumber(block, 'The block');
      await withDatabase(io, options, async (database) => {
        const network = await networkOf(database, options.network);
        const [row] = await database.network(network).quarantine.within({ start: number, end: number });
        if (row === undefined) throw await notQuarantined(database, network, number);
        const kinds = await standing(database, network, number);
        const at = { block: number, now: Date.now() };
        await print(
          io,
          options.json ? { ...row, standing: kinds, advice: advice(row) } : describeRow(row, kinds, at),
        );
      });
    });

  quarantine
    .command('retry')
    .description('try quarantined blocks again now instead of at their next try')
    .argument('<blocks>', 'a block, a range A-B, or all')
    .option('--network <id>', 'their network; with all: only this one')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object a network')
    .addHelpText('after', '\nExample:\n  $ packhouse quarantine retry 17000000-17000999 --network ethereum')
    .action(async (blocks: string, options: Options) => {
      const range = parseBlocks(blocks);
      await withDatabase(io, options, async (database) => {
        const all = range === EVERYTHING && options.network === undefined;
        const networks = all
          ? (await database.networks.list()).map((each) => each.id)
          : [await networkOf(database, options.network)];
        for (const network of networks) {
          const retried = await database.network(network).quarantine.retry(range);
          if (retried === 0 && range !== EVERYTHING) throw await noneQuarantined(database, network, range);
          const done =
            retried === 0
              ? `Nothing of ${network} is quarantined.`
              : `${counted(retried, 'block')} of ${network} ${retried === 1 ? 'is' : 'are'} tried again now.`;
          await print(io, options.json ? { network, retried } : done);
        }
      });
    });
}

async function list(
  database: Database,
  options: ListOptions,
  limit: number,
): Promise<{ rows: QuarantineRow[]; more: boolean }> {
  const network =
    options.network === undefined && options.after === undefined
      ? undefined
      : await networkOf(database, options.network);
  const after =
    options.after === undefined || network === undefined
      ? undefined
      : { network, number: parseBlockNumber(options.after, '--after') };
  const { quarantine } = network === undefined ? database : database.network(network);
  const found = await quarantine.list({ limit: limit + 1, cause: options.cause, after });
  return { rows: found.slice(0, limit), more: found.length > limit };
}

/** The network that was named, or the only one there is. */
async function networkOf(database: Database, named: string | undefined): Promise<string> {
  const ids = (await database.networks.list()).map((network) => network.id);
  const [only] = ids;
  if (named === undefined && ids.length === 1 && only !== undefined) return only;
  if (named !== undefined && ids.includes(named)) return named;
  if (named !== undefined) throw unknownNetwork(named, ids);
  throw new PackhouseError({
    code: 'USAGE',
    message: `Say which network with --network: the database knows ${ids.length}.`,
    hint: ids.length === 0 ? 'It knows none yet.' : `It knows ${ids.join(', ')}.`,
  });
}

/** `17`, `17-99` or `all`. */
function parseBlocks(text: string): BlockRange {
  if (text === 'all') return EVERYTHING;
  const [first, last, ...more] = text.split('-');
  const start = parseBlockNumber(more.length === 0 ? (first ?? '') : text, 'The block');
  const end = last === undefined ? start : parseBlockNumber(last, 'The last block');
  checkRange(start, end);
  return { start, end };
}

async function noneQuarantined(
  database: Database,
  network: string,
  { start, end }: BlockRange,
): Promise<PackhouseError> {
  if (start === end) return notQuarantined(database, network, start);
  return new PackhouseError({
    code: 'QUARANTINE_UNKNOWN',
    message: `No block from ${start} to ${end} of ${network} is quarantined, so there is nothing to try again.`,
    hint: 'See `packhouse quarantine list`.',
  });
}

async function notQuarantined(database: Database, network: string, number: number): Promise<PackhouseError> {
  return new PackhouseError({
    code: 'QUARANTINE_UNKNOWN',
    message: `Block ${number} of ${network} is not quarantined: ${await whyFine(database, network, number)}.`,
  });
}
