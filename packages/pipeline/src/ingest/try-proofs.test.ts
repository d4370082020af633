import { createProver, KINDS } from '@packhouse/chain';
import { afterEach, expect, inject, test } from 'vitest';
import { chainFrom } from '../testing/chains.js';
import { makeWorld, type World } from '../testing/world.js';
import { ingestPiece } from './ingest-piece.js';
import { describeTrial, tryProofs } from './try-proofs.js';

let world: World;
afterEach(() => world.close());

const signal = new AbortController().signal;

test('an old and a recent block tell what can be proved; one that is asked for twice is tried once', async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(10, 12) }]);
  const trial = await tryProofs(world.parts, [10, 21, 21], KINDS, signal);
  expect(trial).toMatchObject({ proved: [10, 21], notProved: [], failed: [] });
  expect(trial.proofs).toEqual(
    expect.arrayContaining(['headerHash', 'transactionsRoot', 'receiptsRoot', 'traces']),
  );
  expect(describeTrial('main', trial)).toEqual({
    verified: expect.stringMatching(
      /^Verified sample blocks 10 and 21 of main \(rules of ethereum\): headerHash, .*, logAddresses\.$/,
    ),
    problems: [],
  });
});

test('a block that does not prove and one that nobody has are named with the reason', async () => {
  const value = `0x${'12'.repeat(32)}`;
  const when = { method: 'eth_getBlockByNumber', block: 10 };
  world = await makeWorld(inject('postgresUrl'), [
    { blocks: chainFrom(10, 12), faults: [{ do: 'tamper', when, path: ['stateRoot'], value }] },
  ]);
  const trial = await tryProofs(world.parts, [10, 15, 400], KINDS, signal);
  expect(trial.proved).toEqual([15]);
  expect(trial.failed.map(({ number }) => number)).toEqual([10, 400]);
  expect(describeTrial('main', trial)).toEqual({
    verified: expect.stringMatching(/^Verified sample block 15 of main \(rules of ethereum\): headerHash, /),
    problems: [
      expect.stringMatching(/^Block 10 of main cannot be proved: Block 10: its header hashes to 0x/),
      expect.stringMatching(/^Block 400 of main cannot be proved: /),
    ],
  });
});

test('what the networks file trusts is said with its reason, and kept with the blocks', async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(10, 12) }]);
  const prover = await createProver({ ...world.network.proofs, receipts: 'trust' });
  const trial = await tryProofs({ ...world.parts, prover }, [10, 21], KINDS, signal);
  expect(trial.proofs).not.toContain('receiptsRoot');
  expect(describeTrial('main', { ...trial, proofs: [] }).verified).toBe(
    'Verified sample blocks 10 and 21 of main (rules of ethereum): no proof is possible.',
  );
  const { problems } = describeTrial('main', trial);
  expect(problems).toContainEqual(expect.stringMatching(/^Not proved on main: receiptsRoot: ./));

  const piece = { firstBlock: 10, lastBlock: 15, kinds: KINDS };
  await ingestPiece({ ...world.parts, prover }, piece, { quarantined: [], suspected: false }, signal);
  const [staged] = await world.database.network('main').staging.blocks({ firstBlock: 10, lastBlock: 10 });
  expect(staged?.notProved?.map(({ proof }) => proof)).toContain('receiptsRoot');
});
