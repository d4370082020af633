import { listQuarantine, retryQuarantine, showQuarantined } from '@packhouse/operations';
import { list, one, resource } from '../installation/resource.js';
import { counted, formatRange } from '../terminal/format.js';
import { checkRange, parseBlockNumber } from '../terminal/parse.js';
import { columnTable } from '../terminal/table.js';
import { describeRow, nextTry } from './quarantine-lines.js';

export const addQuarantineCommand = resource(
  'quarantine',
  'List, show and retry quarantined blocks',
  'list',
  {
    list: list(listQuarantine, {
      about: 'List quarantined blocks by network and block',
      examples: ['--network ethereum --cause PROOF_FAILED'],
      fields: {
        network: ['--network <id>', 'Only this network'],
        cause: ['--cause <code>', 'Only this cause, e.g. PROOF_FAILED'],
        after: [
          '--after <block>',
          'Continue after this block; with several networks, give --network',
          { read: parseBlockNumber },
        ],
        limit: ['--limit <n>', 'Maximum number of rows, 1 to 10000'],
      },
      empty: 'No quarantined blocks.',
      show(rows, _, { more }) {
        const last = more ? rows.at(-1) : undefined;
        const now = Date.now();
        const shown = columnTable(rows, {
          NETWORK: (row) => row.network,
          BLOCKS: (row) => formatRange(row.from, row.to),
          KINDS: (row) => row.kinds.join(','),
          CAUSE: (row) => row.cause,
          UPSTREAM: (row) => row.upstream,
          ATTEMPTS: (row) => row.attempts,
          'NEXT RETRY': (row) => nextTry(row, now),
        });
        if (last === undefined) return shown;
        return [shown, `More rows: add --network ${last.network} --after ${last.from}.`];
      },
    }),
    show: one(showQuarantined, {
      about: 'Show a quarantined block: causes, responses by upstream, and the remedy',
      examples: ['17000123'],
      fields: {
        block: ['<block>', 'Block number', { read: parseBlockNumber }],
        network: ['--network <id>', 'Network of the block, if there are several'],
      },
      say: (row, { block }) => describeRow(row, { block: Number(block), now: Date.now() }),
    }),
    retry: list(retryQuarantine, {
      about: 'Retry quarantined blocks now',
      examples: ['17000000-17000999 --network ethereum'],
      fields: {
        from: ['<blocks>', 'Block, range such as 17000000-17000999, or all'],
        network: ['--network <id>', 'Network of the blocks; with all, only this network'],
      },
      toInput: ({ from, network }) => ({ ...parseBlocks(String(from)), network }),
      toRows: (done) => done.map(({ network, retried }) => ({ network, retried })),
      empty: 'No networks yet.',
      show: (rows) =>
        rows.map(({ network, retried }) =>
          retried === 0
            ? `${network}: no quarantined blocks.`
            : `${network}: retrying ${counted(retried, 'block')} now.`,
        ),
    }),
  },
);

/** `17`, `17-99`, or `all`, which has no bounds. */
function parseBlocks(text: string): { from?: number; to?: number } {
  if (text === 'all') return {};
  const [first, last, ...more] = text.split('-');
  const from = parseBlockNumber(more.length === 0 ? (first ?? '') : text, 'The block');
  const to = last === undefined ? from : parseBlockNumber(last, 'The last block');
  checkRange(from, to);
  return { from, to };
}
