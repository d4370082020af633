import type { Server } from 'node:http';
import { addressBlock } from '@packhouse/runtime';

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
