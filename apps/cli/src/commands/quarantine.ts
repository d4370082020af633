import { listQuarantine, retryQuarantine, showQuarantined } from '@packhouse/operations';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { addCommand, addPlacedCommand, type Place } from '../terminal/command.js';
import { counted, formatRange } from '../terminal/format.js';
import { type CliIo, print, printRows, table } from '../terminal/io.js';
import { checkRange, parseBlockNumber } from '../terminal/parse.js';
import { describeRow, nextTry } from './quarantine-lines.js';

interface ListOptions extends Place {
  network?: string;
  cause?: string;
  after?: string;
  limit: string;
}

/** `packhouse quarantine list|show|retry`. */
export function addQuarantineCommand(program: Command, io: CliIo): void {
  const quarantine = addCommand(program, 'quarantine', 'List, show and retry quarantined blocks', 'list');

  addPlacedCommand(
    quarantine,
    'list',
    'List quarantined blocks by network and block',
    '--network ethereum --cause PROOF_FAILED',
  )
    .option('--network <id>', 'Only this network')
    .option('--cause <code>', 'Only this cause, e.g. PROOF_FAILED')
    .option('--after <block>', 'Continue after this block; with several networks, give --network')
    .option('--limit <n>', 'Maximum number of rows, 1 to 10000', '50')
    .action(async (options: ListOptions) => {
      const { network, cause, limit } = options;
      const after = options.after === undefined ? undefined : parseBlockNumber(options.after, '--after');
      const { rows, more } = await operate(io, options, listQuarantine, { network, cause, after, limit });
      const now = Date.now();
      const lines = rows.map((row) => [
        row.network,
        formatRange(row.from, row.to),
        row.kinds.join(','),
        row.cause,
        row.upstream ?? '-',
        String(row.attempts),
        nextTry(row, now),
      ]);
      await printRows(io, options, rows, {
        none: 'No quarantined blocks.',
        show: () =>
          table([['NETWORK', 'BLOCKS', 'KINDS', 'CAUSE', 'UPSTREAM', 'ATTEMPTS', 'NEXT RETRY'], ...lines]),
      });
      const last = rows.at(-1);
      if (!options.json && more && last !== undefined) {
        await print(io, `More rows: add --network ${last.network} --after ${last.from}.`);
      }
    });

  addPlacedCommand(
    quarantine,
    'show',
    'Show a quarantined block: causes, responses by upstream, and the remedy',
    '17000123',
  )
    .argument('<block>', 'Block number')
    .option('--network <id>', 'Network of the block, if there are several')
    .action(async (block: string, options: Place & { network?: string }) => {
      const number = parseBlockNumber(block, 'The block');
      const row = await operate(io, options, showQuarantined, { network: options.network, block: number });
      await print(io, options.json ? row : describeRow(row, { block: number, now: Date.now() }));
    });

  addPlacedCommand(
    quarantine,
    'retry',
    'Retry quarantined blocks now',
    '17000000-17000999 --network ethereum',
  )
    .argument('<blocks>', 'Block, range such as 17000000-17000999, or all')
    .option('--network <id>', 'Network of the blocks; with all, only this network')
    .action(async (blocks: string, options: Place & { network?: string }) => {
      const range = parseBlocks(blocks);
      const done = await operate(io, options, retryQuarantine, { network: options.network, ...range });
      for (const { network, retried } of done) {
        const line =
          retried === 0
            ? `${network}: no quarantined blocks.`
            : `${network}: retrying ${counted(retried, 'block')} now.`;
        await print(io, options.json ? { network, retried } : line);
      }
    });
}

/** `17`, `17-99`, or `all`, which has no bounds. */
function parseBlocks(text: string): { from?: number; to?: number } {
  if (text === 'all') return {};
  const [first, last, ...more] = text.split('-');
  const from = parseBlockNumber(more.length === 0 ? (first ?? '') : text, 'The block');
  const to = last === undefined ? from : parseBlockNumber(last, 'The last block');
  checkRange(from, to);
  return { from, to };
}
