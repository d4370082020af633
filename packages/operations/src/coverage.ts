import { KINDS } from '@packhouse/chain';
import { coverage, coverageMap, holeNeeds } from '@packhouse/pipeline';
import { z } from 'zod';
import { blockField, limitField, networkField, numberField } from './fields.js';
import { findNetwork } from './find-network.js';
import { operation } from './operation.js';

const kindsField = z
  .preprocess(
    (value) => (typeof value === 'string' ? value.split(',') : value),
    z.array(z.enum(KINDS)).min(1).max(KINDS.length),
  )
  .describe('kinds, with commas between; default: all that are wanted or published');

export const listNetworks = operation({
  name: 'networks',
  kind: 'read',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'The networks that the database knows.',
  input: z.object({}),
  run: ({ database }) => database.networks.list(),
});

export const readCoverageMap = operation({
  name: 'coverage/map',
  kind: 'read',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'Kinds by blocks in columns: how many blocks of each are not published, and the worst reason why.',
  input: z.object({
    network: networkField.optional(),
    kinds: kindsField.optional(),
    from: blockField.optional().describe('first block; default: the first wanted one'),
    to: blockField.optional().describe('last block; default: the last that is known'),
    columns: numberField(1, 1_000).default(1_000).describe('columns at most'),
  }),
  run: async ({ database, queue }, input) =>
    coverageMap({ database, queue }, { ...input, network: await findNetwork(database, input.network) }),
});

export const readHoles = operation({
  name: 'coverage/holes',
  kind: 'read',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'The holes of a range with reason, cause and what each needs, a page at a time.',
  input: z.object({
    network: networkField.optional(),
    kinds: kindsField.optional(),
    from: blockField.describe('first block of the page: the `next` of the one before'),
    to: blockField.describe('last block'),
    limit: limitField(100, 1_000).describe('holes of a kind on a page, at most'),
  }),
  run: async ({ database, queue }, { from, ...input }) => {
    const network = await findNetwork(database, input.network);
    const page = await coverage({ database, queue }, { ...input, network, from, start: from });
    const holes = page.kinds.flatMap(({ kind, holes: found }) =>
      found.map((hole) => ({ kind, ...hole, needs: holeNeeds(hole) })),
    );
    return { range: page.range, next: page.next, queueSeen: page.queueSeen, holes };
  },
});

export const readCoverage = operation({
  name: 'coverage',
  kind: 'read',
  role: 'viewer',
  summary: 'Published ranges, and holes with reasons, a page at a time.',
  input: z.object({
    network: networkField.optional(),
    kinds: kindsField.optional(),
    from: blockField.optional().describe('first block; default 0'),
    to: blockField.optional().describe('last block; default: the last that is known'),
    start: blockField.optional().describe('first block of the page: the `next` of the one before'),
    limit: limitField(100, 5_000).describe('holes of a kind on a page, at most'),
  }),
  run: async ({ database, queue }, { network: named, ...asked }) => {
    const network = await findNetwork(database, named);
    const { firstWanted } = await database.network(network).holes.standing();
    return { page: await coverage({ database, queue }, { network, ...asked }), firstWanted };
  },
});
