import { describe, expect, it } from 'vitest';
import { isPublicAddress } from './public-address.js';

describe('an address on the public internet', () => {
  it.each(['8.8.8.8', '93.184.216.34', '1.1.1.1', '223.255.255.255', '172.32.0.1', '100.128.0.1'])(
    '%s is one',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );
  it.each(['2606:4700:4700::1111', '2a00:1450:4001:80b::200e', '2001:4860:4860::8888'])(
    '%s is one',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );

  it.each([
    ['this host', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['loopback', '127.0.0.1'],
    ['all of loopback', '127.255.255.254'],
    ['private, 10', '10.0.0.1'],
    ['private, 172', '172.16.0.1'],
    ['private, 172 at its end', '172.31.255.255'],
    ['private, 192', '192.168.1.1'],
    ['link-local', '169.254.1.1'],
    ['metadata of clouds', '169.254.169.254'],
    ['metadata of Alibaba, in carrier-grade NAT', '100.100.100.200'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['metadata of Azure', '168.63.129.16'],
    ['metadata of Oracle', '192.0.0.192'],
    ['benchmarks', '198.18.0.1'],
    ['documentation', '203.0.113.7'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified, IPv6', '::'],
    ['loopback, IPv6', '::1'],
    ['IPv4-mapped', '::ffff:127.0.0.1'],
    ['IPv4-mapped, of a public address too', '::ffff:8.8.8.8'],
    ['IPv4-mapped in hex', '::ffff:7f00:1'],
    ['IPv4-compatible', '::127.0.0.1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['local NAT64', '64:ff9b:1::1'],
    ['unique local', 'fd00:ec2::254'],
    ['link-local, IPv6', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%lo'],
    ['site-local', 'fec0::1'],
    ['multicast, IPv6', 'ff02::1'],
    ['Teredo', '2001:0:7f00:1::1'],
    ['6to4 of loopback', '2002:7f00:1::1'],
    ['documentation, IPv6', '2001:db8::1'],
    ['newer documentation, IPv6', '3fff::1'],
    ['a zone on a public one', '2606:4700::1%eth0'],
    ['a name', 'localhost'],
    ['nothing', ''],
    ['a short form', '127.1'],
  ])('%s is none: %s', (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
