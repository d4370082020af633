import { createServer } from 'node:net';

/** The first free port at or after `port` on 127.0.0.1, looking at a hundred. Null where all are taken. */
export async function nextFreePort(port: number): Promise<number | null> {
  for (let candidate = port; candidate < Math.min(65_536, port + 100); candidate++) {
    if (await isFree(candidate)) return candidate;
  }
  return null;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
