/** The polynomial of CRC-32, reflected: bit 31 is the coefficient of x^0. */
const POLYNOMIAL = 0xedb88320;
const ONE = 0x80000000;

/** `a * b` modulo the polynomial, over GF(2). */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted;
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ POLYNOMIAL;
  }
  return product;
}

/** `x^(8 * 2^k)` for every bit of a safe integer: the effect of 2^k further bytes on a CRC. */
const BYTE_POWERS: readonly number[] = (() => {
  const powers = [ONE >>> 8];
  for (let k = 1; k < 53; k++) powers.push(multiply(powers[k - 1] as number, powers[k - 1] as number));
  return powers;
})();

/**
 * The CRC-32 of two joined texts from the CRC of each and the length of the second, in bytes (zlib's method:
 * the first CRC times x^(8 * length) modulo the polynomial, plus the second).
 *
 * The length may be any safe integer, even beyond 2^32. The result is unsigned.
 */
export function crc32Combine(crcA: number, crcB: number, lengthB: number): number {
  let shifted = crcA;
  for (let k = 0, rest = lengthB; rest > 0; k++, rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) shifted = multiply(BYTE_POWERS[k] as number, shifted);
  }
  return (shifted ^ crcB) >>> 0;
}
