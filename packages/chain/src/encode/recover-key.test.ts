import { describe, expect, it } from 'vitest';
import { createRecoverKey } from './recover-key.js';

const bytes = (hex: string) => Buffer.from(hex, 'hex');
const word = (hex: string) => hex.padStart(64, '0');

/** A message signed with the private key 1, whose public key is the base point of the curve (SEC 2). */
const BASE =
  '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798' +
  '483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8';
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const X = BigInt(`0x${BASE.slice(0, 64)}`);
const MESSAGE = bytes(word('1234'));
/** With the nonce 1 the point at r is the base point, and s is message + r. */
const S = (0x1234n + X) % ORDER;
const signature = (r: bigint, s: bigint) => bytes(word(r.toString(16)) + word(s.toString(16)));

describe.each([
  ['of this machine', createRecoverKey()],
  [
    'where there is no binary',
    createRecoverKey(() => {
      throw new Error('No native build was found');
    }),
  ],
])('the recovery of keys %s', (_, recoverKey) => {
  it('finds the key that signed', () => {
    expect(Buffer.from(recoverKey(MESSAGE, signature(X, S), 0)!).toString('hex')).toBe(BASE);
  });

  it('takes the mirror image for s and the other parity alike, as before Homestead', () => {
    expect(Buffer.from(recoverKey(MESSAGE, signature(X, ORDER - S), 1)!).toString('hex')).toBe(BASE);
  });

  it('finds another key for another message', () => {
    expect(Buffer.from(recoverKey(bytes(word('1235')), signature(X, S), 0)!).toString('hex')).not.toBe(BASE);
  });

  it.each([
    ['r of 0', 0n, S],
    ['s of 0', X, 0n],
    ['r out of range', ORDER, S],
    ['s out of range', X, ORDER],
    ['an r at which the curve has no point', 5n, S],
  ])('finds none for %s', (_, r, s) => {
    expect(recoverKey(MESSAGE, signature(r, s), 0)).toBe(undefined);
  });
});
