import type { BlockRange } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import { PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';
import { blockField, limitField, networkField } from './fields.js';
import { findNetwork } from './find-network.js';
import { noteChange } from './note-change.js';
import { operation } from './operation.js';
import { advice, standing, whyFine } from './quarantine-advice.js';

const cause = z.string().min(1).max(64).describe('an error code, e.g. PROOF_FAILED');
const EVERYTHING: BlockRange = { start: 0, end: Number.MAX_SAFE_INTEGER };

export const listQuarantine = operation({
  name: 'quarantine',
  kind: 'read',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'The blocks in quarantine, by network and block, a page at a time.',
  input: z.object({
    network: networkField.optional(),
    cause: cause.optional(),
    after: blockField.optional().describe('the page begins after this first block of a row'),
    afterNetwork: networkField.optional().describe('the network of that row; default: network'),
    limit: limitField(50),
  }),
  run: async ({ database }, { network, cause, after, afterNetwork, limit }) => {
    const one = network === undefined && (after === undefined || afterNetwork !== undefined);
    const only = one ? undefined : await findNetwork(database, network);
    const { quarantine } = only === undefined ? database : database.network(only);
    const position = after === undefined ? undefined : { network: only ?? afterNetwork ?? '', number: after };
    const found = await quarantine.list({ limit: limit + 1, cause, after: position });
    return { rows: found.slice(0, limit), more: found.length > limit };
  },
});

export const quarantineCauses = operation({
  name: 'quarantine/causes',
  kind: 'read',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'How many rows and blocks are in quarantine, by network and cause.',
  input: z.object({}),
  run: ({ database }) => database.quarantine.causes(),
});

export const showQuarantined = operation({
  name: 'quarantine/show',
  kind: 'read',
  role: 'viewer',
  summary: 'All that is known of a block in quarantine: what each upstream said, and what to do.',
  input: z.object({ network: networkField.optional(), block: blockField }),
  run: async ({ database }, { network: named, block }) => {
    const network = await findNetwork(database, named);
    const [row] = await database.network(network).quarantine.within({ start: block, end: block });
    if (row === undefined) throw await notQuarantined(database, network, block);
    return { ...row, standing: await standing(database, network, block), advice: advice(row) };
  },
});

export const retryQuarantine = operation({
  name: 'quarantine/retry',
  kind: 'change',
  role: 'operator',
  summary: 'Tries blocks in quarantine again now: a range, all of a network, all of a cause, or all.',
  input: z.object({
    network: networkField.optional(),
    start: blockField.optional().describe('the first block; without it all'),
    end: blockField.optional().describe('the last block; default: start'),
    cause: cause.optional().describe('only blocks of this cause'),
  }),
  run: async (parts, { network: named, start, end = start, cause }) => {
    const { database } = parts;
    const range = start === undefined || end === undefined ? EVERYTHING : { start, end };
    if (range.end < range.start) {
      throw new PackhouseError({
        code: 'RANGE_INVALID',
        message: `The range ${range.start} to ${range.end} is reversed: its first block is after its last one.`,
      });
    }
    const all = range === EVERYTHING && named === undefined;
    const networks = all
      ? (await database.networks.list()).map((each) => each.id)
      : [await findNetwork(database, named)];
    const done: { network: string; retried: number }[] = [];
    for (const network of networks) {
      const retried = await database.network(network).quarantine.retry(range, cause);
      if (retried === 0 && range !== EVERYTHING) throw await noneQuarantined(database, network, range);
      done.push({ network, retried });
      if (retried === 0) continue;
      const blocks = range === EVERYTHING ? 'all' : `${range.start}-${range.end}`;
      await noteChange(parts, `quarantine ${network}`, 'retry', null, {
        ...{ blocks, retried },
        ...(cause === undefined ? {} : { cause }),
      });
    }
    return done;
  },
});

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
