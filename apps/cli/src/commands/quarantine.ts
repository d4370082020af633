import type { BlockRange } from '@packhouse/chain';
import { listQuarantine, retryQuarantine, showQuarantined } from '@packhouse/operations';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { counted, formatRange } from '../terminal/format.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { checkRange, parseBlockNumber, parseInteger } from '../terminal/parse.js';
import { withPlace } from '../terminal/place.js';
import { describeRow, nextTry } from './quarantine-lines.js';

interface Options {
  network?: string;
  server?: string;
  json?: boolean;
  dataDir?: string;
}

interface ListOptions extends Options {
  cause?: string;
  after?: string;
  limit: string;
}

/** `packhouse quarantine list|show|retry`. */
export function addQuarantineCommand(program: Command, io: CliIo): void {
  const quarantine = program
    .command('quarantine')
    .description('blocks that fail their proofs, or that no node has')
    .addHelpText('after', '\nExample:\n  $ packhouse quarantine list');

  withPlace(quarantine.command('list'))
    .description('list what is quarantined, by network and block')
    .option('--network <id>', 'only this network')
    .option('--cause <code>', 'only what failed for this reason, e.g. PROOF_FAILED')
    .option('--after <block>', 'continue after this block; needs --network if there are several')
    .option('--limit <n>', 'rows at most, 1 to 10000', '50')
    .addHelpText('after', '\nExample:\n  $ packhouse quarantine list --network ethereum --cause PROOF_FAILED')
    .action(async (options: ListOptions) => {
      const limit = parseInteger(options.limit, '--limit', 1, 10_000);
      const after = options.after === undefined ? undefined : parseBlockNumber(options.after, '--after');
      const { network, cause } = options;
      const { rows, more } = await operate(io, options, listQuarantine, { network, cause, after, limit });
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

  withPlace(quarantine.command('show'))
    .description('all that is known of a quarantined block, and what to do about it')
    .argument('<block>', 'its number')
    .option('--network <id>', 'its network, if there are several')
    .addHelpText('after', '\nExample:\n  $ packhouse quarantine show 17000123')
    .action(async (block: string, options: Options) => {
      const number = parseBlockNumber(block, 'The block');
      const row = await operate(io, options, showQuarantined, { network: options.network, block: number });
      await print(io, options.json ? row : describeRow(row, { block: number, now: Date.now() }));
    });

  withPlace(quarantine.command('retry'))
    .description('try quarantined blocks again now instead of at their next try')
    .argument('<blocks>', 'a block, a range A-B, or all')
    .option('--network <id>', 'their network; with all: only this one')
    .addHelpText('after', '\nExample:\n  $ packhouse quarantine retry 17000000-17000999 --network ethereum')
    .action(async (blocks: string, options: Options) => {
      const range = parseBlocks(blocks);
      const done = await operate(io, options, retryQuarantine, { network: options.network, ...range });
      for (const { network, retried } of done) {
        const line =
          retried === 0
            ? `Nothing of ${network} is quarantined.`
            : `${counted(retried, 'block')} of ${network} ${retried === 1 ? 'is' : 'are'} tried again now.`;
        await print(io, options.json ? { network, retried } : line);
      }
    });
}

/** `17`, `17-99`, or `all`, which has no bounds. */
function parseBlocks(text: string): Partial<BlockRange> {
  if (text === 'all') return {};
  const [first, last, ...more] = text.split('-');
  const start = parseBlockNumber(more.length === 0 ? (first ?? '') : text, 'The block');
  const end = last === undefined ? start : parseBlockNumber(last, 'The last block');
  checkRange(start, end);
  return { start, end };
}
