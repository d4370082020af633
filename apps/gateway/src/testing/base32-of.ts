const ALPHABET = 'abcdefghjkmnprstuvwxyz0123456789';
const GENERATOR = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n];

/** The address of network 1029 with these 20 bytes, 40 hex digits (CIP-37). */
export function base32Of(hex: string): string {
  const bits = `${'0'.repeat(8)}${BigInt(`0x${hex}`).toString(2).padStart(160, '0')}00`;
  const digits = (bits.match(/.{5}/g) ?? []).map((five) => Number.parseInt(five, 2));
  let checksum = 1n;
  for (const digit of [
    ...[...'cfx'].map((char) => char.charCodeAt(0) & 31),
    0,
    ...digits,
    ...Array(8).fill(0),
  ]) {
    const top = checksum >> 35n;
    checksum = ((checksum & 0x07ffffffffn) << 5n) ^ BigInt(digit);
    for (const [bit, generator] of GENERATOR.entries()) if ((top >> BigInt(bit)) & 1n) checksum ^= generator;
  }
  checksum ^= 1n;
  const sum = Array.from({ length: 8 }, (_, at) => Number((checksum >> BigInt(35 - at * 5)) & 31n));
  return `cfx:${[...digits, ...sum].map((digit) => ALPHABET[digit]).join('')}`;
}

/** The address of the nth contract. */
export function contractAt(n: number): string {
  return base32Of(`8${n.toString(16).padStart(39, '0')}`);
}

/** The address of the nth user. */
export function userAt(n: number): string {
  return base32Of(`1${n.toString(16).padStart(39, '0')}`);
}
