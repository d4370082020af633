import { isIP } from 'node:net';

/** Groups of an IPv6 address that a provider gives to one customer at least (RFC 6177): 64 bits. */
const OWN_GROUPS = 4;

/** What is counted as one client: an IPv4 address, also where it is written as IPv6; of IPv6 the first 64 bits. */
export function addressBlock(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (isIP(address) !== 6) return address;
  const [left = '', right] = (address.split('%')[0] as string).split('::');
  const before = left === '' ? [] : left.split(':');
  const after = right === undefined || right === '' ? [] : right.split(':');
  const gap = right === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...new Array<string>(gap).fill('0'), ...after];
  return groups
    .slice(0, OWN_GROUPS)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
