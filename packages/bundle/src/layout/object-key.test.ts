import { KINDS } from '@packhouse/chain';
import { isPackhouseError } from '@packhouse/runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { objectKey, parseFileName, parseObjectKey } from './object-key.js';

const invalid = expect.toSatisfy((error) => isPackhouseError(error, 'NAME_INVALID'));

/** The name of a file is the lastBlock of its first key. */
const fileName = ({ firstBlock, lastBlock }: { firstBlock: number; lastBlock: number }): string =>
  objectKey({ network: 'n', kind: 'blocks', firstBlock, lastBlock }).slice('n/blocks/'.length);

const range = fc
  .tuple(fc.maxSafeNat(), fc.maxSafeNat())
  .map(([a, b]) => ({ firstBlock: Math.min(a, b), lastBlock: Math.max(a, b) }));
const version = fc.option(fc.integer({ min: 2, max: 32_767 }), { nil: undefined });
const name = fc
  .tuple(range, fc.constantFrom(...KINDS), fc.stringMatching(/^[a-z0-9-]{1,20}$/), version)
  .map(([blocks, kind, network, later]) => ({
    network,
    kind,
    ...blocks,
    ...(later === undefined ? {} : { version: later }),
  }));

describe('names of bundles', () => {
  it('are read back as what they were made from', () => {
    fc.assert(
      fc.property(name, (made) => {
        expect(parseObjectKey(objectKey(made))).toEqual(made);
        expect(parseFileName(fileName(made))).toEqual({
          firstBlock: made.firstBlock,
          lastBlock: made.lastBlock,
        });
      }),
    );
  });

  it('are the only texts that are read: whatever parses is printed as it was', () => {
    const digits = fc.stringMatching(/^[-+0-9ex._ ]{0,6}$/);
    const near = fc.tuple(
      fc.stringMatching(/^[a-zA-Z0-9_.-]{0,4}$/),
      fc.constantFrom(...KINDS, 'Blocks', 'block', ''),
      fc.oneof(digits, fc.nat().map(String)),
      fc.oneof(digits, fc.nat().map(String)),
      fc.constantFrom(
        ...['.json.gz', '.json', '.json.gz ', '.JSON.GZ', '.json.gz/', '.v2.json.gz', '.v32767.json.gz'],
        ...['.v1.json.gz', '.v0.json.gz', '.v02.json.gz', '.v32768.json.gz', '.v2.v2.json.gz', '.V2.json.gz'],
      ),
    );
    fc.assert(
      fc.property(near, ([network, kind, firstBlock, lastBlock, suffix]) => {
        const text = `${network}/${kind}/${firstBlock}-${lastBlock}${suffix}`;
        let parsed: ReturnType<typeof parseObjectKey>;
        try {
          parsed = parseObjectKey(text);
        } catch (error) {
          expect(error).toEqual(invalid);
          return;
        }
        expect(objectKey(parsed)).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  it('look as documented', () => {
    expect(objectKey({ network: 'mainnet', kind: 'logs', firstBlock: 0, lastBlock: 99 })).toBe(
      'mainnet/logs/0-99.json.gz',
    );
    expect(objectKey({ network: 'mainnet', kind: 'logs', firstBlock: 0, lastBlock: 99, version: 1 })).toBe(
      'mainnet/logs/0-99.json.gz',
    );
    expect(objectKey({ network: 'mainnet', kind: 'logs', firstBlock: 0, lastBlock: 99, version: 2 })).toBe(
      'mainnet/logs/0-99.v2.json.gz',
    );
    expect(parseObjectKey('mainnet/logs/0-99.v2.json.gz')).toEqual({
      network: 'mainnet',
      kind: 'logs',
      firstBlock: 0,
      lastBlock: 99,
      version: 2,
    });
    expect(parseObjectKey('mainnet/logs/0-99.json.gz')).not.toHaveProperty('version');
    expect(parseFileName('0-99.json.gz')).toEqual({ firstBlock: 0, lastBlock: 99 });
  });

  it.each([
    '00-99.json.gz',
    '0-099.json.gz',
    '9-0.json.gz',
    '-1-5.json.gz',
    '+1-5.json.gz',
    '1e3-1000000.json.gz',
    '0x1-0x2.json.gz',
    '0-9007199254740992.json.gz',
    '0-99999999999999999999.json.gz',
    '0-99.json',
    '0-99.json.gz\n',
    ' 0-99.json.gz',
    '0-99',
    '',
    '../0-99.json.gz',
  ])('refuses %j as a file name', (text) => {
    expect(() => parseFileName(text)).toThrow(invalid);
  });

  it.each([
    'mainnet/0-99.json.gz',
    'mainnet/uncles/0-99.json.gz',
    'Mainnet/logs/0-99.json.gz',
    '/logs/0-99.json.gz',
    'mainnet/logs/x/0-99.json.gz',
    '/mainnet/logs/0-99.json.gz',
    '../logs/0-99.json.gz',
    'mainnet\n/logs/0-99.json.gz',
    'mainnet/logs/0-99.v1.json.gz',
    'mainnet/logs/0-99.v0.json.gz',
    'mainnet/logs/0-99.v32768.json.gz',
    'mainnet/logs/0-99.v2.5.json.gz',
  ])('refuses %j as a key', (text) => {
    expect(() => parseObjectKey(text)).toThrow(invalid);
  });

  it('are not made of what they could not be read back to', () => {
    expect(() => fileName({ firstBlock: 5, lastBlock: 4 })).toThrow(invalid);
    expect(() => fileName({ firstBlock: -1, lastBlock: 4 })).toThrow(invalid);
    expect(() => fileName({ firstBlock: 0.5, lastBlock: 4 })).toThrow(invalid);
    expect(() => fileName({ firstBlock: 0, lastBlock: 2 ** 53 })).toThrow(invalid);
    expect(() => objectKey({ network: 'a/b', kind: 'logs', firstBlock: 0, lastBlock: 1 })).toThrow(invalid);
    for (const wrong of [0, -1, 1.5, 32_768, Number.NaN]) {
      expect(() =>
        objectKey({ network: 'a', kind: 'logs', firstBlock: 0, lastBlock: 1, version: wrong }),
      ).toThrow(invalid);
    }
  });
});
