import type { Server } from 'node:http';
import { addressBlock, createAddressList } from '@packhouse/runtime';
import type { HttpRequest } from '../plain-http/transport.js';

/** Names of ranges of addresses. */
const ADDRESS_RANGES: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

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
): (request: HttpRequest) => string {
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

/**
 * Closes connections beyond `most` from one address (IPv6: from one block of 64 bits) at once, and calls `refused` for
 * each. Those from addresses that are `exempt` are not counted: behind a proxy stand many clients.
 */
export function limitConnections(
  server: Server,
  most: number,
  exempt: (address: string) => boolean,
  refused: () => void,
): void {
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || exempt(remoteAddress)) return;
    const block = addressBlock(remoteAddress);
    const others = open.get(block) ?? 0;
    if (others >= most) {
      refused();
      socket.destroy();
      return;
    }
    open.set(block, others + 1);
    socket.once('close', () => {
      const left = (open.get(block) ?? 0) - 1;
      if (left > 0) open.set(block, left);
      else open.delete(block);
    });
  });
}
