import { expect, it } from 'vitest';
import { findRedisFault, parseRedisAddress } from './redis-address.js';

it.each([
  ['redis://host', { host: 'host', port: 6379, db: 0 }],
  ['redis://host:1/2?family=6', { host: 'host', port: 1, db: 2 }],
  ['redis://:a%40b@[::1]:7/', { host: '::1', port: 7, password: 'a@b', db: 0 }],
  ['rediss://me:word@host', { host: 'host', port: 6379, username: 'me', password: 'word', tls: {} }],
  ['redis+sentinel://a/main', { sentinels: [{ host: 'a', port: 26379 }], name: 'main', db: 0 }],
  [
    'redis+sentinel://:word@a:1,[::2]:3/main/4',
    {
      sentinels: [
        { host: 'a', port: 1 },
        { host: '::2', port: 3 },
      ],
      name: 'main',
      password: 'word',
      db: 4,
    },
  ],
])('reads %s', (address, target) => {
  expect(parseRedisAddress(address)).toMatchObject(target);
});

it.each([
  'http://host',
  'redis://',
  'redis://a,b',
  'redis://host/main',
  'redis://host/1/2',
  'redis://host:hunter2',
  'redis+sentinel://:hunter2@a:1',
  'redis+sentinel://a:1/main/x',
])('refuses %s, and does not repeat it', (address) => {
  expect(() => parseRedisAddress(address)).toThrow(/^The address of Redis is malformed\.$/);
});

it.each([
  ['redis_version:6.0.16\r\n', 'it has version 6.0.16'],
  ['redis_version:7.2.4\r\ncluster_enabled:1\r\n', 'it is a node of a cluster'],
  ['redis_version:7.2.4\r\nmaxmemory_policy:allkeys-lru\r\ncluster_enabled:0\r\n', 'allkeys-lru'],
  ['redis_version:6.2.0\r\nmaxmemory_policy:noeviction\r\n', undefined],
  ['redis_version:10.0.0\r\n', undefined],
  ['', undefined],
])('finds in %j what rules it out', (info, said) => {
  const fault = findRedisFault(info);
  if (said === undefined) expect(fault).toBeUndefined();
  else expect(fault?.message).toContain(said);
});
