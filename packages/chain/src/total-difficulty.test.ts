import { ALL, type Recorded } from '@packhouse/recordings';
import { beforeAll, describe, expect, it } from 'vitest';
import { POLICY } from '../test/recorded.js';
import { flipped, thrown } from '../test/tamper.js';
import { createProver, type Prover } from './create-prover.js';
import { checkTotalDifficulty } from './total-difficulty.js';

let prover: Prover;
beforeAll(async () => {
  prover = await createProver(POLICY);
});

/** Checks the blocks of a recording that follow each other; returns how many were. */
function check(blocks: readonly Recorded[], by = prover): number {
  const proved = blocks.map((answer) => by.proveBlock({ block: answer.block }));
  for (const [at, block] of proved.entries()) if (at > 0) checkTotalDifficulty(proved[at - 1]!, block);
  return proved.filter(({ parentHash }, at) => parentHash === proved[at - 1]?.hash).length;
}

describe.each(ALL)('totalDifficulty in $title', (source) => {
  it('grows by the difficulty of proof of work, and stays since the merge', () => {
    const early = source.blocks('early').slice(0, 300);
    expect(check(early)).toBe(early.length - 1);
    expect(early.length).toBe(300);
    expect(check([47218, 47219].map((number) => source.block('forks', number)))).toBe(1);
    expect(check([19433902, 19433903].map((number) => source.block('forks', number)))).toBe(1);
  });

  it.each([
    [47218, 47219],
    [19433902, 19433903],
  ])('that does not follow from block %i is refused in block %i', (before, after) => {
    const pair = [before, after].map((number) => source.block('forks', number));
    const truth = pair[1]!.block.totalDifficulty;
    pair[1]!.block.totalDifficulty = flipped(truth);
    expect(thrown(() => check(pair))).toMatchObject({
      code: 'PROOF_FAILED',
      data: {
        block: after,
        field: 'totalDifficulty',
        expected: truth,
        got: flipped(truth),
        kinds: ['blocks'],
      },
    });
  });

  it('is not asked of blocks that do not follow each other, that lack it, or whose header is trusted', async () => {
    const pair = () => [47218, 47219].map((number) => source.block('forks', number));
    const lie = '0x1';
    const lacking = pair();
    delete lacking[0]!.block.totalDifficulty;
    lacking[1]!.block.totalDifficulty = lie;
    expect(check(lacking)).toBe(1);
    const apart = [47218, 1000000].map((number) => source.block('forks', number));
    apart[1]!.block.totalDifficulty = lie;
    expect(check(apart)).toBe(0);
    const trusted = pair();
    trusted[1]!.block.totalDifficulty = lie;
    expect(check(trusted, await createProver({ ...POLICY, header: 'trust' }))).toBe(1);
  });
});
