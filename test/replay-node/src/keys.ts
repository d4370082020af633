import { keccak, toData } from './hex.js';

/**
 * Private keys of generated accounts, and signatures by them: as cheap as test data must be, and worth nothing else,
 * since the nonces are few and known.
 *
 * secp256k1 (SEC 2): y² = x³ + 7 over the field of FIELD, whose points are multiples of BASE, ORDER of them.
 */
export interface Key {
  /** With 0x. */
  address: string;
  secret: bigint;
}

/** An ECDSA signature; `parity` as transactions have it. */
interface Signature {
  r: bigint;
  s: bigint;
  parity: 0 | 1;
}

interface Point {
  x: bigint;
  y: bigint;
}

const FIELD = 2n ** 256n - 2n ** 32n - 977n;
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const BASE: Point = {
  x: 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  y: 0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
};
const TABLE = 256;
const STEP = BigInt(TABLE + 1);

/** The points 1 to TABLE times BASE, and as many multiples of STEP times BASE: their sums are TABLE² nonces. */
let tables: { small: Point[]; large: Point[] } | undefined;
let keys: Key[] | undefined;

/** Nonces that there are. */
export const NONCES = TABLE * TABLE;

/** The accounts that sign: the same in every chain. Computed once. */
export function signingKeys(): readonly Key[] {
  if (keys !== undefined) return keys;
  const { small, large } = points();
  const key = (point: Point, secret: bigint): Key => ({ address: toAddress(point), secret });
  keys = [
    ...small.map((point, at) => key(point, BigInt(at + 1))),
    ...large.map((point, at) => key(point, BigInt(at + 1) * STEP)),
  ];
  return keys;
}

/** Signs 32 bytes with one of the nonces, from 0 to NONCES - 1. */
export function signMessage(message: Uint8Array, { secret }: Key, nonce: number): Signature {
  const { small, large } = points();
  const [low, high] = [nonce % TABLE, Math.floor(nonce / TABLE)];
  const { x: r, y } = add(small[low] as Point, large[high] as Point);
  const k = BigInt(low + 1) + BigInt(high + 1) * STEP;
  const s = modulo(inverse(k, ORDER) * (BigInt(toData(message)) + r * secret), ORDER);
  const odd = (y & 1n) === 1n;
  // The lower of s and -s counts (EIP-2); the other one means the point's mirror image.
  return s * 2n <= ORDER ? { r, s, parity: odd ? 1 : 0 } : { r, s: ORDER - s, parity: odd ? 0 : 1 };
}

function points(): { small: Point[]; large: Point[] } {
  if (tables !== undefined) return tables;
  const small = multiples(BASE);
  tables = { small, large: multiples(add(small[TABLE - 1] as Point, BASE)) };
  return tables;
}

/** 1 to TABLE times a point. */
function multiples(point: Point): Point[] {
  const all = [point];
  while (all.length < TABLE) all.push(add(all.at(-1) as Point, point));
  return all;
}

/** The sum of two points that are not each other's mirror image. */
function add(a: Point, b: Point): Point {
  const slope =
    a.x === b.x
      ? 3n * a.x * a.x * inverse(2n * a.y, FIELD)
      : (b.y - a.y) * inverse(modulo(b.x - a.x, FIELD), FIELD);
  const x = modulo(slope * slope - a.x - b.x, FIELD);
  return { x, y: modulo(slope * (a.x - x) - a.y, FIELD) };
}

/** By Euclid's algorithm. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [a, b, x, y] = [value, modulus, 1n, 0n];
  while (a > 1n) {
    const quotient = a / b;
    [a, b] = [b, a % b];
    [x, y] = [y, x - quotient * y];
  }
  return modulo(x, modulus);
}

function modulo(value: bigint, modulus: bigint): bigint {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
}

/** The end of keccak(x, y) (Yellow Paper, appendix F). */
function toAddress({ x, y }: Point): string {
  const word = (value: bigint): string => value.toString(16).padStart(64, '0');
  return toData(keccak(Buffer.from(word(x) + word(y), 'hex')).subarray(12));
}
