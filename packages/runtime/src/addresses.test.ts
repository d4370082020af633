import { expect, it } from 'vitest';
import { addressBlock, createAddressList, createOriginList, networkBlock } from './addresses.js';

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:0db8:1:2::9', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['not an address', 'not an address'],
])('%s counts as %s', (address, block) => {
  expect(addressBlock(address)).toBe(block);
});

it.each([
  ['10.0.0.0/8', '10.255.0.1', true],
  ['10.0.0.0/8', '::ffff:10.0.0.1', true],
  ['::ffff:10.0.0.0/104', '10.0.0.1', true],
  ['::ffff:10.0.0.1', '10.0.0.1', true],
  ['10.0.0.1', '10.0.0.2', false],
  ['2001:db8::/32', '2001:db8:1::1', true],
  ['fe80::/10', 'fe80::1%eth0', true],
  ['2001:db8::/32', 'nonsense', false],
  ['0.0.0.0/0', '192.0.2.1', true],
])('the range %s and the address %s: %s', (entry, address, has) => {
  expect(createAddressList([entry])(address)).toBe(has);
});

it.each([
  ['192.0.2.1', '192.0.2'],
  ['::ffff:192.0.2.1', '192.0.2'],
  ['2001:db8:1:2::9', '2001:db8:1'],
  ['not an address', 'not an address'],
])('%s is of the network %s', (address, network) => {
  expect(networkBlock(address)).toBe(network);
});

it.each([
  ['https://app.example.com', 'https://APP.example.com', true],
  ['https://app.example.com', 'http://app.example.com', false],
  ['*.example.com', 'http://a.b.example.com', true],
  ['*.example.com', 'https://example.com', false],
  ['app.example.com', 'null', false],
])('the origins %s and the origin %s: %s', (entry, origin, has) => {
  expect(createOriginList([entry])(origin)).toBe(has);
});
