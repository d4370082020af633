/** CIP-37: RFC 4648's alphabet without i, l, o and q. */
const ALPHABET = 'abcdefghjkmnprstuvwxyz0123456789';
const FORM = /^(cfx|cfxtest|net[1-9]\d{0,9})(?::type\.(null|builtin|user|contract))?:([a-hjkmnp-z0-9]{42})$/;
const CHECKSUM_DIGITS = 8;
/** The generator of the 40-bit PolyMod, as in Bitcoin Cash's CashAddr. */
const GENERATOR = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n];
/** By the first hex digit of the 20 bytes. */
const TYPE_NAMES: Record<string, string> = { '0': 'builtin', '1': 'user', '8': 'contract' };

/**
 * Returns a check of base32 addresses (CIP-37) of one network: form, prefix, checksum, version, type. The check returns
 * the fault of a value, or null.
 */
export function checkCoreAddress(networkId: number): (value: unknown) => string | null {
  const expected = corePrefix(networkId);
  return (value) => {
    if (typeof value !== 'string') return `expected a base32 address, got ${getKind(value)}`;
    if (value !== value.toLowerCase() && value !== value.toUpperCase()) {
      return 'a base32 address is in lower case or in upper case, not in both';
    }
    const form = FORM.exec(value.toLowerCase());
    if (form === null) return `expected a base32 address like ${expected}:…, 42 characters after the colon`;
    const [, prefix = '', type, body = ''] = form;
    if (prefix !== expected) return `the address is of network ${prefix}, expected ${expected}`;
    const seed = [...[...prefix].map((char) => char.charCodeAt(0) & 31), 0];
    const digits = [...body].map((char) => ALPHABET.indexOf(char));
    if (polyMod([...seed, ...digits]) !== 0n) return 'the checksum of the address is wrong';
    const bits = toBits(body);
    // 170 bits: a version byte of 0, 20 bytes, 2 bits of padding.
    if (bits >> 162n !== 0n || (bits & 3n) !== 0n) return 'the address has an unknown version or length';
    const hex = coreAddressHex(value);
    const name = bits === 0n ? 'null' : TYPE_NAMES[hex[0] as string];
    if (name === undefined) return 'the address has an unknown type';
    return type === undefined || type === name ? null : `the address is of type ${name}, not ${type}`;
  };
}

/** The prefix of addresses of a network (CIP-37): 1029 is `cfx`, 1 `cfxtest`, others `net` and their number. */
function corePrefix(networkId: number): string {
  if (networkId === 1029) return 'cfx';
  return networkId === 1 ? 'cfxtest' : `net${networkId}`;
}

/** A checked address in the form for comparing and storing: lower case, without its type. */
export function canonicalCoreAddress(address: string): string {
  return address.toLowerCase().replace(/:type\.\w+:/, ':');
}

/** The 20 bytes of a checked address, as 40 hex digits; those of a contract begin with 8. */
export function coreAddressHex(address: string): string {
  const body = canonicalCoreAddress(address).split(':')[1] ?? '';
  return (toBits(body) >> 2n).toString(16).padStart(40, '0');
}

/** The bits of the digits before the checksum. */
function toBits(body: string): bigint {
  let bits = 0n;
  for (const char of body.slice(0, -CHECKSUM_DIGITS)) bits = (bits << 5n) | BigInt(ALPHABET.indexOf(char));
  return bits;
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

function getKind(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}
