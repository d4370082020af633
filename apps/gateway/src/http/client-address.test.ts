import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { addressBlock, createAddressList, createClientAddress } from './client-address.js';

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

it.each<[number | string[] | undefined, string | undefined, string]>([
  [undefined, '192.0.2.1', '::ffff:127.0.0.1'],
  [['loopback'], undefined, '::ffff:127.0.0.1'],
  [['loopback'], '', '::ffff:127.0.0.1'],
  [['loopback'], '192.0.2.1', '192.0.2.1'],
  [['loopback'], '198.51.100.7, 192.0.2.1', '192.0.2.1'],
  [['loopback', '192.0.2.0/24'], '198.51.100.7 ,192.0.2.1', '198.51.100.7'],
  [['loopback', '192.0.2.0/24'], '192.0.2.9, , 192.0.2.1', '192.0.2.9'],
  [['10.0.0.0/8'], '192.0.2.1', '::ffff:127.0.0.1'],
  [['loopback', 'uniquelocal'], 'nonsense, 10.1.2.3', 'nonsense'],
  [1, '198.51.100.7, 192.0.2.1', '192.0.2.1'],
  [2, '198.51.100.7, 192.0.2.1', '198.51.100.7'],
  [16, '198.51.100.7, 192.0.2.1', '198.51.100.7'],
])('with %j trusted, X-Forwarded-For %j means %s', (trusted, header, client) => {
  const request = { socket: { remoteAddress: '::ffff:127.0.0.1' }, headers: { 'x-forwarded-for': header } };
  expect(createClientAddress(trusted)(request as unknown as IncomingMessage)).toBe(client);
});
