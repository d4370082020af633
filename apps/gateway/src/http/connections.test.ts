import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { expect, it } from 'vitest';
import { createTrustedProxies, limitConnections } from './client-address.js';
import { createHttpServer } from './server.js';

/** A server whose connections are made by hand. */
function setup(most: number, trusted?: number | string[]) {
  const server = new EventEmitter();
  let refused = 0;
  limitConnections(server as Server, most, createTrustedProxies(trusted), () => {
    refused += 1;
  });
  const open = (remoteAddress: string) => {
    const socket = Object.assign(new EventEmitter(), { remoteAddress, destroyed: false });
    const destroy = (): void => {
      socket.destroyed = true;
      socket.emit('close');
    };
    server.emit('connection', Object.assign(socket, { destroy }));
    return { destroy, isOpen: !socket.destroyed };
  };
  return {
    open,
    openAll: (...addresses: string[]) => addresses.map((address) => open(address).isOpen),
    refused: () => refused,
  };
}

it('closes the connections of one address beyond the limit, and lets others in', () => {
  const { open, openAll, refused } = setup(2);
  const first = open('192.0.2.1');
  expect(openAll('::ffff:192.0.2.1', '192.0.2.1', '192.0.2.1')).toEqual([true, false, false]);
  expect(openAll('2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:1::1')).toEqual([
    true,
    true,
    false,
    true,
  ]);
  expect(refused()).toBe(3);
  first.destroy();
  expect(openAll('192.0.2.1', '192.0.2.1')).toEqual([true, false]);
});

it('does not count those of proxies that are trusted by address', () => {
  const { openAll } = setup(1, ['10.0.0.0/8']);
  expect(openAll('10.0.0.1', '10.0.0.1', '10.0.0.2')).toEqual([true, true, true]);
  expect(openAll('192.0.2.1', '192.0.2.1')).toEqual([true, false]);
});

it('counts none where all connections are those of so many proxies', () => {
  expect(setup(1, 2).openAll('192.0.2.1', '192.0.2.1', '192.0.2.1')).toEqual([true, true, true]);
});

it('a request has 10 s for its headers and 30 s in all', () => {
  expect(createHttpServer(() => undefined, 1).server).toMatchObject({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
  });
});
