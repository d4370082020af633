const ALPHABET = 'abcdefghjkmnprstuvwxyz0123456789';
/** A version byte and 20 bytes, behind which two bits of padding and the checksum follow. */
const BODY_DIGITS = 34;

/** An address that was checked, as it is compared and stored: lower case, without its type. */
export function canonicalBase32(address: string): string {
  return address.toLowerCase().replace(/:type\.\w+:/, ':');
}

/** The 20 bytes of an address that was checked, as 40 hex digits (CIP-37). */
export function base32Hex(address: string): string {
  const body = canonicalBase32(address).split(':')[1] ?? '';
  let bits = 0n;
  for (const char of body.slice(0, BODY_DIGITS)) bits = (bits << 5n) | BigInt(ALPHABET.indexOf(char));
  return (bits >> 2n).toString(16).padStart(40, '0');
}

/** Whether an address that was checked is of a contract: its first four bits are 8. */
export function isContract(address: string): boolean {
  return base32Hex(address).startsWith('8');
}
