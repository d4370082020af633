import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Names of ranges of addresses. */
const ADDRESS_RANGES: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

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

/** Returns whether connections from an address are those of a trusted proxy: all are if proxies are only counted. */
export function createTrustedProxies(
  trusted: number | readonly string[] | undefined,
): (address: string) => boolean {
  if (trusted === undefined) return () => false;
  if (typeof trusted === 'number') return () => true;
  return createAddressList(trusted.flatMap((entry) => ADDRESS_RANGES[entry] ?? [entry]));
}

/**
 * Returns a function that reads a client's address: that of the connection, or, behind trusted proxies, the first
 * address in X-Forwarded-For, counted from the nearest, that is not trusted. `trusted`: how many proxies there are,
 * or their addresses.
 */
export function createClientAddress(
  trusted: number | readonly string[] | undefined,
): (request: IncomingMessage) => string {
  if (trusted === undefined) return ({ socket }) => socket.remoteAddress ?? '';
  const listed = typeof trusted === 'number' ? undefined : createTrustedProxies(trusted);
  return ({ socket, headers }) => {
    const forwarded = headers['x-forwarded-for'] ?? '';
    const before = (Array.isArray(forwarded) ? forwarded.join(',') : forwarded)
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
    let address = socket.remoteAddress ?? '';
    for (let hop = 0; before.length > 0; hop += 1) {
      const isTrusted = listed === undefined ? hop < (trusted as number) : listed(address);
      if (!isTrusted) break;
      address = before.pop() as string;
    }
    return address;
  };
}

/** Groups of the IPv6 prefix that a provider assigns to one customer at least (RFC 6177): 64 bits. */
const OWN_GROUPS = 4;

/** The addresses counted as one client: an IPv4 address, even if written as IPv6, or the first 64 bits of IPv6. */
export function addressBlock(text: string): string {
  const address = plainAddress(text);
  if (isIP(address) !== 6) return address;
  const [left = '', right] = address.split('::');
  const before = left === '' ? [] : left.split(':');
  const after = right === undefined || right === '' ? [] : right.split(':');
  const gap = right === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...new Array<string>(gap).fill('0'), ...after];
  return groups
    .slice(0, OWN_GROUPS)
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
