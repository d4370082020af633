import { createMPT } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { createKeccak256, type Keccak, toHex } from './keccak.js';
import { RlpBuffer } from './rlp-buffer.js';
import { EMPTY_ROOT, keyLength, toTrieKey, trieRoot } from './trie-root.js';

let keccak: Keccak;
beforeAll(async () => {
  keccak = await createKeccak256();
});

async function oracleRoot(items: readonly Uint8Array[]): Promise<string> {
  const trie = await createMPT();
  for (const [index, item] of items.entries()) await trie.put(RLP.encode(index), item);
  return toHex(trie.root());
}

function root(items: readonly Uint8Array[]): string {
  const rlp = new RlpBuffer();
  for (const item of items) rlp.rawItem(item);
  return toHex(trieRoot(rlp, keccak));
}

describe('trieRoot', () => {
  it('of nothing is the hash of the empty string', () => {
    expect(root([])).toBe(EMPTY_ROOT);
  });

  it('agrees with @ethereumjs/mpt on items of any size, short ones that stand inside their parent too', async () => {
    const item = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 3 }),
      fc.uint8Array({ minLength: 20, maxLength: 70 }),
      fc.uint8Array({ minLength: 1, maxLength: 600 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 40 }), async (items) => {
        expect(root(items)).toBe(await oracleRoot(items));
      }),
      { numRuns: 60 },
    );
  });

  it('agrees with @ethereumjs/mpt for every number of items where the shape of the keys changes', async () => {
    for (const count of [
      1, 2, 16, 17, 126, 127, 128, 129, 130, 143, 144, 145, 255, 256, 257, 258, 272, 300,
    ]) {
      const tiny = Array.from({ length: count }, (_, index) => Uint8Array.of(index & 0x7f));
      const large = Array.from({ length: count }, (_, index) => Buffer.alloc(index + 1, index));
      expect(root(tiny), `${count} tiny`).toBe(await oracleRoot(tiny));
      expect(root(large), `${count} large`).toBe(await oracleRoot(large));
    }
  });

  it('knows the key of an item of any number', () => {
    for (const index of [0, 1, 127, 128, 255, 256, 65_535, 65_536, 16_777_215]) {
      const key = Buffer.from(RLP.encode(index)).toString('hex');
      expect(toTrieKey(index).toString(16).padStart(keyLength(index), '0')).toBe(key);
    }
  });
});
