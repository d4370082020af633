import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const BIN = path.join(fileURLToPath(new URL('../', import.meta.url)), 'bin', 'packhouse.js');

/** Throws where no command can catch it, as soon as somebody listens. */
const THROW = `process.on('newListener', (name) => {
  if (name === 'uncaughtException') setImmediate(() => { throw new Error('lost in an event\\nof a library'); });
});`;

test.each([
  ['one sentence', undefined],
  ['the place too, if it is asked for,', '1'],
])('an error that no command can catch ends it with %s and the code INTERNAL', async (_, debug) => {
  // A console that never answers.
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = [
    '--import',
    `data:text/javascript,${encodeURIComponent(THROW)}`,
    BIN,
    'status',
    '--server',
    at,
  ];
  try {
    const ended = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
      const env = { PATH: process.env.PATH, PACKHOUSE_TOKEN: 'pht_x', PACKHOUSE_DEBUG: debug };
      execFile(process.execPath, args, { env }, (error, __, stderr) =>
        resolve({ code: error?.code, stderr }),
      );
    });
    expect(ended.code).toBe(70);
    const lines = ended.stderr.trim().split('\n');
    expect(lines.at(-1)).toBe(
      'packhouse: Packhouse failed: lost in an event. Run it again: what was finished is kept. PACKHOUSE_DEBUG=1 prints where it failed. [INTERNAL]',
    );
    expect(lines.length > 1).toBe(debug !== undefined);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
