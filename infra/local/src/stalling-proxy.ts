import { once } from 'node:events';
import { createServer, connect as dial, type Socket } from 'node:net';

/** Stands before a server and can stop passing anything on, while all connections stay open. */
export interface StallingProxy {
  /** The server's address with the proxy's host and port in it. */
  url: string;
  /** From now on nothing passes, in either direction; new connections are taken and get no answer. */
  stall(): void;
  /** What was held back goes on its way. */
  resume(): void;
  /** From now on what comes to (`answers`: from) the server is thrown away, on connections that exist now. */
  lose(what: 'requests' | 'answers'): void;
  close(): Promise<void>;
}

/** Starts a proxy before the server of this address. */
export async function startStallingProxy(target: string): Promise<StallingProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const nears = new WeakSet<Socket>();
  const lossy = new WeakSet<Socket>();
  let stalled = false;
  const server = createServer((near) => {
    const far = dial(Number(port), hostname);
    nears.add(near);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => {
        if (!lossy.has(from)) to.write(bytes);
      });
      from.on('end', () => to.end());
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      if (stalled) from.pause();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as { port: number }).port);
  return {
    url: url.href,
    stall: () => {
      stalled = true;
      for (const socket of sockets) socket.pause();
    },
    resume: () => {
      stalled = false;
      for (const socket of sockets) socket.resume();
    },
    lose: (what) => {
      for (const socket of sockets) if (nears.has(socket) === (what === 'requests')) lossy.add(socket);
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
