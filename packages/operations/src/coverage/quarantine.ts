import type { BlockRange } from '@packhouse/chain';
import type { Database, QuarantineRow } from '@packhouse/database';
import { z } from 'zod';
import { fail } from '../operation/fail.js';
import { blockField, checkRange, limitField, networkField, toPublic } from '../operation/fields.js';
import { findNetwork } from '../operation/find-network.js';
import { noteChange } from '../operation/note-change.js';
import { change, read } from '../operation/operation.js';
import { explainNoRetry, getAdvice, getKindStates } from './quarantine-advice.js';

const cause = z.string().min(1).max(64).describe('an error code, e.g. PROOF_FAILED');
const EVERYTHING: BlockRange = { firstBlock: 0, lastBlock: Number.MAX_SAFE_INTEGER };

/** A row of the quarantine as commands and the API show it. */
export type QuarantineEntry = Omit<QuarantineRow, keyof BlockRange> & { from: number; to: number };

export const listQuarantine = read({
  name: 'quarantine',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'The quarantined blocks, by network and block, a page at a time.',
  input: z.object({
    network: networkField.optional(),
    cause: cause.optional(),
    after: blockField.optional().describe('entries after this first block'),
    afterNetwork: networkField.optional().describe('the network of that entry; default: `network`'),
    limit: limitField(50),
  }),
  run: async ({ database }, { network, cause, after, afterNetwork, limit }) => {
    const one = network === undefined && (after === undefined || afterNetwork !== undefined);
    const only = one ? undefined : await findNetwork(database, network);
    const { quarantine } = only === undefined ? database : database.network(only);
    const position = after === undefined ? undefined : { network: only ?? afterNetwork ?? '', number: after };
    const found = await quarantine.list({ limit: limit + 1, cause, after: position });
    return { rows: found.slice(0, limit).map(toPublic), more: found.length > limit };
  },
});

export const quarantineCauses = read({
  name: 'quarantine/causes',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'The entries and blocks in quarantine, by network and cause.',
  run: ({ database }) => database.quarantine.causes(),
});

export const showQuarantined = read({
  name: 'quarantine/show',
  role: 'viewer',
  summary: 'A quarantined block with the responses of its upstreams, and advice.',
  input: z.object({ network: networkField.optional(), block: blockField }),
  run: async ({ database }, { network: named, block }) => {
    const network = await findNetwork(database, named);
    const range = { firstBlock: block, lastBlock: block };
    const [row] = await database.network(network).quarantine.within(range);
    if (row === undefined) return failNotQuarantined(database, network, range);
    return {
      ...toPublic(row),
      standing: await getKindStates(database, network, block),
      advice: getAdvice(row),
    };
  },
});

export const retryQuarantine = change({
  name: 'quarantine/retry',
  role: 'operator',
  summary: 'Retries quarantined blocks now: a range, a network, a cause, or all.',
  input: z.object({
    network: networkField.optional(),
    from: blockField.optional().describe('the first block; default: all blocks'),
    to: blockField.optional().describe('the last block; default: `from`'),
    cause: cause.optional().describe('only this cause'),
  }),
  run: async (parts, { network: named, from, to = from, cause }) => {
    const { database } = parts;
    const range = from === undefined || to === undefined ? EVERYTHING : { firstBlock: from, lastBlock: to };
    if (from !== undefined && to !== undefined) checkRange(from, to);
    const all = range === EVERYTHING && named === undefined;
    const networks = all
      ? (await database.networks.list()).map((each) => each.id)
      : [await findNetwork(database, named)];
    const done: { network: string; retried: number }[] = [];
    for (const network of networks) {
      const retried = await database
        .network(network)
        .quarantine.retry(range, cause === undefined ? undefined : [cause]);
      if (retried === 0 && range !== EVERYTHING) await failNotQuarantined(database, network, range);
      done.push({ network, retried });
      if (retried === 0) continue;
      const blocks = range === EVERYTHING ? 'all' : `${range.firstBlock}-${range.lastBlock}`;
      await noteChange(parts, `quarantine ${network}`, 'retry', null, { blocks, retried, cause });
    }
    return done;
  },
});

async function failNotQuarantined(
  database: Database,
  network: string,
  { firstBlock, lastBlock }: BlockRange,
): Promise<never> {
  const message =
    firstBlock === lastBlock
      ? `Block ${firstBlock} of ${network} is not quarantined: ${await explainNoRetry(database, network, firstBlock)}.`
      : `No block from ${firstBlock} to ${lastBlock} of ${network} is quarantined.`;
  return fail(
    'QUARANTINE_UNKNOWN',
    message,
    firstBlock === lastBlock ? undefined : 'See `packhouse quarantine list`.',
  );
}
