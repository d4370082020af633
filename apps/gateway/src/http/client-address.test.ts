import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { createClientAddress } from './client-address.js';

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
