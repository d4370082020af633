import { KINDS } from '@packhouse/chain';
import { HOLE_REASONS } from '@packhouse/database';
import { type CoverageMap, coverage, coverageMap, holeNeeds } from '@packhouse/report';
import { z } from 'zod';
import { describeNetworks } from '../operation/describe-networks.js';
import { blockField, limitField, networkField, numberField, toPublic } from '../operation/fields.js';
import { findNetwork } from '../operation/find-network.js';
import { read } from '../operation/operation.js';
import { addSince, type Undated } from './hole-since.js';

const kindsField = z
  .preprocess(
    (value) => (typeof value === 'string' ? value.split(',') : value),
    z.array(z.enum(KINDS)).min(1).max(KINDS.length),
  )
  .describe('kinds, with commas between; default: all requested or published ones');

const reasonsField = z
  .preprocess(
    (value) => (typeof value === 'string' ? value.split(',') : value),
    z.array(z.enum(HOLE_REASONS)).min(1).max(HOLE_REASONS.length),
  )
  .describe('only holes with these reasons, with commas between');

/** Pages that one request reads while it looks for holes with some reasons. */
const MAX_PAGES = 20;

export const listNetworks = read({
  name: 'networks',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'The networks, with their URLs if known.',
  run: describeNetworks,
});

export const readCoverageMap = read({
  name: 'coverage/map',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'Missing blocks with the worst reason, by kind and in columns of blocks.',
  input: z.object({
    network: networkField.optional(),
    kinds: kindsField.optional(),
    from: blockField.optional().describe('first block; default: the first requested one'),
    to: blockField.optional().describe('last block; default: the last known one'),
    columns: numberField(1, 1_000).default(1_000).describe('columns'),
  }),
  run: async ({ database, queue }, input): Promise<CoverageMap> =>
    coverageMap({ database, queue }, { ...input, network: await findNetwork(database, input.network) }),
});

export const readHoles = read({
  name: 'coverage/holes',
  role: 'viewer',
  sharedForMs: 1_000,
  summary:
    'The holes of a range with reason, cause and advice, a page at a time; `others`: holes without the reasons.',
  input: z.object({
    network: networkField.optional(),
    kinds: kindsField.optional(),
    from: blockField.describe('first block of the page: `next` of the previous one'),
    to: blockField.describe('last block'),
    reasons: reasonsField.optional(),
    limit: limitField(100, 1_000).describe('holes per kind and page'),
  }),
  run: async ({ database, queue }, { from, reasons, ...input }) => {
    const network = await findNetwork(database, input.network);
    const holes: Undated[] = [];
    let others = 0;
    for (let start = from, pages = 1; ; pages++) {
      const page = await coverage({ database, queue }, { ...input, network, from: start, start });
      for (const { kind, holes: found } of page.kinds) {
        const wanted = found.filter(({ reason }) => reasons?.includes(reason) ?? true);
        others += found.length - wanted.length;
        holes.push(
          ...wanted.map((hole) => ({ kind, ...toPublic(hole), advice: toSentence(holeNeeds(hole)) })),
        );
      }
      // Of a page without them the next one may have some: a few are read, and the reader goes on from `next`.
      if (page.next !== null && holes.length < input.limit && pages < MAX_PAGES && reasons !== undefined) {
        start = page.next;
        continue;
      }
      const range = { from, to: page.range.lastBlock };
      const dated = await addSince(database.network(network), holes);
      return { range, next: page.next, queueSeen: page.queueSeen, holes: dated, others };
    }
  },
});

export const readCoverage = read({
  name: 'coverage',
  role: 'viewer',
  summary: 'Published ranges, and holes with reasons, a page at a time.',
  input: z.object({
    network: networkField.optional(),
    kinds: kindsField.optional(),
    from: blockField.optional().describe('first block; default 0'),
    to: blockField.optional().describe('last block; default: the last known one'),
    cursor: blockField.optional().describe('first block of the page: `next` of the previous one'),
    limit: limitField(100, 5_000).describe('holes per kind and page'),
  }),
  run: async ({ database, queue }, { network: named, cursor, ...asked }) => {
    const network = await findNetwork(database, named);
    const { firstRequested } = await database.network(network).holes.standing();
    const page = await coverage({ database, queue }, { network, ...asked, start: cursor });
    return { page, firstRequested };
  },
});

/** A clause as a sentence. */
const toSentence = (clause: string): string => `${clause.slice(0, 1).toUpperCase()}${clause.slice(1)}.`;
