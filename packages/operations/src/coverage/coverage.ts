import { KINDS } from '@packhouse/chain';
import { type CoverageMap, coverage, coverageMap, holeNeeds } from '@packhouse/pipeline';
import { z } from 'zod';
import { blockField, limitField, networkField, numberField, toPublic } from '../operation/fields.js';
import { findNetwork } from '../operation/find-network.js';
import { read } from '../operation/operation.js';

const kindsField = z
  .preprocess(
    (value) => (typeof value === 'string' ? value.split(',') : value),
    z.array(z.enum(KINDS)).min(1).max(KINDS.length),
  )
  .describe('kinds, with commas between; default: all requested or published ones');

export const listNetworks = read({
  name: 'networks',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'The networks.',
  input: z.object({}),
  run: ({ database }) => database.networks.list(),
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
  summary: 'The holes of a range with reason, cause and advice, a page at a time.',
  input: z.object({
    network: networkField.optional(),
    kinds: kindsField.optional(),
    from: blockField.describe('first block of the page: `next` of the previous one'),
    to: blockField.describe('last block'),
    limit: limitField(100, 1_000).describe('holes per kind and page'),
  }),
  run: async ({ database, queue }, { from, ...input }) => {
    const network = await findNetwork(database, input.network);
    const page = await coverage({ database, queue }, { ...input, network, from, start: from });
    const holes = page.kinds.flatMap(({ kind, holes: found }) =>
      found.map((hole) => ({ kind, ...toPublic(hole), advice: holeNeeds(hole) })),
    );
    return { range: toPublic(page.range), next: page.next, queueSeen: page.queueSeen, holes };
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
