import { createServer } from 'node:net';

/** Ports that are tried. */
const TRIED = 100;

/** The first free port of 127.0.0.1 of the hundred from `port` on; null if all are taken. */
export async function nextFreePort(port: number): Promise<number | null> {
  for (let candidate = port; candidate < Math.min(65_536, port + TRIED); candidate++) {
    if (await isFreePort(candidate)) return candidate;
  }
  return null;
}

export function isFreePort(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
