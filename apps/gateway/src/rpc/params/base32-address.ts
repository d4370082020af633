import { type Check, kindOf } from './check-params.js';

/** CIP-37: RFC 4648's alphabet without i, l, o and q. */
const ALPHABET = 'abcdefghjkmnprstuvwxyz0123456789';
const FORM = /^(cfx|cfxtest|net[1-9]\d{0,9})(?::type\.(null|builtin|user|contract))?:([a-hjkmnp-z0-9]{42})$/;
const CHECKSUM_DIGITS = 8;
/** The generator of the 40-bit PolyMod, as in Bitcoin Cash's CashAddr. */
const GENERATOR = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n];
const TYPES: Record<string, number | null> = { '0': 0, '1': 1, '8': 8 };
const TYPE_NAMES: Record<string, string> = { '0': 'builtin', '1': 'user', '8': 'contract' };

/** The prefix of addresses of a network (CIP-37): 1029 is `cfx`, 1 `cfxtest`, others `net` and their number. */
export function addressPrefix(networkId: number): string {
  if (networkId === 1029) return 'cfx';
  return networkId === 1 ? 'cfxtest' : `net${networkId}`;
}

/** Checks base32 addresses of one network: form, prefix, checksum, version, type. */
export function base32Address(networkId: number): Check {
  const expected = addressPrefix(networkId);
  return (value) => {
    if (typeof value !== 'string') return `expected a base32 address, got ${kindOf(value)}`;
    if (value !== value.toLowerCase() && value !== value.toUpperCase()) {
      return 'a base32 address is in lower case or in upper case, not in both';
    }
    const form = FORM.exec(value.toLowerCase());
    if (form === null) return `expected a base32 address like ${expected}:…, 42 characters behind the colon`;
    const [, prefix = '', type, body = ''] = form;
    if (prefix !== expected) return `the address is of network ${prefix}, expected ${expected}`;
    const digits = [...body].map((char) => ALPHABET.indexOf(char));
    const seed = [...[...prefix].map((char) => char.charCodeAt(0) & 31), 0];
    if (polyMod([...seed, ...digits]) !== 0n) return 'the checksum of the address is wrong';
    const bits = digits
      .slice(0, -CHECKSUM_DIGITS)
      .map((digit) => digit.toString(2).padStart(5, '0'))
      .join('');
    // 170 bits: a version byte of 0, 20 bytes, 2 bits of padding.
    if (!/^0{8}[01]{160}00$/.test(bits)) return 'the address has an unknown version or length';
    const nibble = Number.parseInt(bits.slice(8, 12), 2).toString(16);
    const isNull = /^0{168}/.test(bits);
    const name = isNull ? 'null' : TYPE_NAMES[nibble];
    if (name === undefined || TYPES[nibble] === undefined) return 'the address has an unknown type';
    return type === undefined || type === name ? null : `the address is of type ${name}, not ${type}`;
  };
}

function polyMod(digits: readonly number[]): bigint {
  let checksum = 1n;
  for (const digit of digits) {
    const top = checksum >> 35n;
    checksum = ((checksum & 0x07ffffffffn) << 5n) ^ BigInt(digit);
    for (const [bit, generator] of GENERATOR.entries()) {
      if ((top >> BigInt(bit)) & 1n) checksum ^= generator;
    }
  }
  return checksum ^ 1n;
}
