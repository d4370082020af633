import { BlockList, isIP } from 'node:net';

/** A list of addresses and ranges like `10.0.0.0/8`; a text that is not an address is never in it. */
export function createAddressList(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const [text = '', bits] = entry.split('/');
    const address = plainAddress(text);
    const family = getFamily(address);
    if (family === undefined) continue;
    if (bits === undefined) list.addAddress(address, family);
    // In an IPv4 address written as IPv6, the 32 bits follow 96 others.
    else list.addSubnet(address, Number(bits) - (family === 'ipv4' && text.includes(':') ? 96 : 0), family);
  }
  return (text) => {
    const address = plainAddress(text);
    const family = getFamily(address);
    return family !== undefined && list.check(address, family);
  };
}

/**
 * A list of browser origins: `https://host:port`, `host:port` under both schemes, and `*.host` for every host below it but
 * not itself.
 */
export function createOriginList(entries: readonly string[]): (origin: string) => boolean {
  const patterns = entries.map((entry) => {
    const [, scheme, host = ''] = /^(?:(https?):\/\/)?(.*)$/.exec(entry.toLowerCase()) ?? [];
    return { scheme, host, below: host.startsWith('*.') ? host.slice(1) : undefined };
  });
  return (origin) => {
    const [, used, name = ''] = /^(https?):\/\/([^/@\s]+)$/.exec(origin.toLowerCase()) ?? [];
    if (used === undefined) return false;
    return patterns.some(({ scheme, host, below }) => {
      if (scheme !== undefined && scheme !== used) return false;
      return below === undefined ? name === host : name.length > below.length && name.endsWith(below);
    });
  };
}

/** Groups of the IPv6 prefix that a provider assigns to one customer at least (RFC 6177): 64 bits. */
const OWN_GROUPS = 4;
/** Groups of the prefix of a site: 48 bits. */
const SITE_GROUPS = 3;

/** The addresses counted as one client: an IPv4 address, even if written as IPv6, or the first 64 bits of IPv6. */
export function addressBlock(text: string): string {
  const address = plainAddress(text);
  return isIP(address) === 6 ? firstGroups(address, OWN_GROUPS) : address;
}

/** The block around it, counted as one network: 24 bits of IPv4, or 48 of IPv6. */
export function networkBlock(text: string): string {
  const address = plainAddress(text);
  return isIP(address) === 6 ? firstGroups(address, SITE_GROUPS) : address.replace(/\.\d+$/, '');
}

function firstGroups(address: string, groups: number): string {
  const [left = '', right] = address.split('::');
  const before = left === '' ? [] : left.split(':');
  const after = right === undefined || right === '' ? [] : right.split(':');
  const gap = right === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  return [...before, ...new Array<string>(gap).fill('0'), ...after]
    .slice(0, groups)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

/** A socket that listens on all addresses reports IPv4 as `::ffff:1.2.3.4`, and link-local ones with their zone. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
}

function getFamily(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address);
  return version === 4 ? 'ipv4' : version === 6 ? 'ipv6' : undefined;
}

/** Whether it is an address, or a range in CIDR notation. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}
