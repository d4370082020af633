import { expect, test } from 'vitest';
import { createHonestChain } from './honest-chain.js';

const linked = (chain: ReturnType<typeof createHonestChain>): boolean =>
  chain.blocks().every(({ block }, i, all) => i === 0 || block.parentHash === all[i - 1]?.block.hash);

test('grows, becomes final and reorganises only what is not final', () => {
  const chain = createHonestChain({ seed: 1, first: 100, length: 10, txsPerBlock: 1 });
  expect([chain.first, chain.head(), chain.finalized(), chain.loose()]).toEqual([100, 109, 106, 3]);
  chain.grow(5);
  expect(chain.head()).toBe(114);
  const final = chain.block(106)?.block.hash;
  const before = chain.block(112)?.block.hash;
  expect(chain.reorganise(100, 2)).toBe(8);
  expect([chain.head(), chain.finalized()]).toEqual([116, 106]);
  expect(chain.block(106)?.block.hash).toBe(final);
  expect(chain.block(112)?.block.hash).not.toBe(before);
  expect(chain.ever(112).map(({ block }) => block.hash)).toEqual([before, chain.block(112)?.block.hash]);
  expect(linked(chain)).toBe(true);
  chain.finalize(0);
  expect(chain.reorganise(3, 1)).toBe(0);
  chain.finalize(50);
  expect(chain.finalized()).toBe(116);
});

test('is the same for the same seed', () => {
  const hashes = (seed: number): (string | undefined)[] => {
    const chain = createHonestChain({ seed, first: 1, length: 4, txsPerBlock: 1 });
    chain.reorganise(2, 0);
    return chain.blocks().map(({ block }) => block.hash);
  };
  expect(hashes(5)).toEqual(hashes(5));
  expect(hashes(5)).not.toEqual(hashes(6));
});
