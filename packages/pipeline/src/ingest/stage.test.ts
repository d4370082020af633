import { KINDS } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import { afterEach, expect, inject, test } from 'vitest';
import { chainFrom } from '../testing/chains.js';
import { makeWorld, type World } from '../testing/world.js';
import { ingest } from './ingest.js';

/** The first of a segment. */
const FIRST = 1_024;
let world: World;
afterEach(() => world.close());

function away(): PackhouseError {
  return new PackhouseError({
    code: 'DATABASE_UNAVAILABLE',
    message: 'Postgres restarts.',
    hint: 'Wait.',
  });
}

// Invariant 5: what is redone after a kill is less than a job; after one of Postgres it is nothing.
test('what was fetched is staged after Postgres was away for a moment, and nothing is fetched twice', async () => {
  let failures = 3;
  const asked: number[] = [];
  world = await makeWorld(inject('postgresUrl'), [
    {
      blocks: chainFrom(FIRST, 16),
      observe: ({ method, params, block }) => {
        if (method === 'eth_getBlockByNumber' && params[1] === true) asked.push(block as number);
      },
    },
  ]);
  const { staging } = world.parts.database;
  const database = {
    ...world.parts.database,
    staging: {
      ...staging,
      stage: (request: Parameters<typeof staging.stage>[0]) =>
        failures-- > 0 ? Promise.reject(away()) : staging.stage(request),
    },
  };
  const window = { firstBlock: FIRST, lastBlock: FIRST + 15, kinds: KINDS };
  expect(await ingest({ ...world.parts, database }, window, world.context.signal)).toMatchObject({
    staged: 16,
  });
  expect(failures).toBeLessThan(0);
  expect(asked.sort((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, at) => FIRST + at));
});
