import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** IPv4 outside of the public internet: IANA's special-purpose registry (RFC 6890), multicast, reserved. */
const NOT_PUBLIC_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  // Azure's metadata and DNS, in the middle of public space.
  '168.63.129.16/32',
];

/** Global unicast (RFC 4291, 2.4); IPv4-mapped, NAT64, unique local, link-local and multicast lie outside of it. */
const GLOBAL_V6 = '2000::/3';

/** Special ranges within it: IETF assignments with Teredo, documentation, 6to4, AS112. */
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

const refusedV4 = toList(NOT_PUBLIC_V4, 'ipv4');
const globalV6 = toList([GLOBAL_V6], 'ipv6');
const refusedV6 = toList(NOT_PUBLIC_V6, 'ipv6');

/** Whether an IP address is unicast on the public internet, so that a stranger may choose it. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !refusedV4.check(address, 'ipv4');
  // An address with a zone belongs to a link.
  if (!isIPv6(address) || address.includes('%')) return false;
  return globalV6.check(address, 'ipv6') && !refusedV6.check(address, 'ipv6');
}

function toList(subnets: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = '', bits] = subnet.split('/');
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}
