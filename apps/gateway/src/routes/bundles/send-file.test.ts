import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ServedFile } from '../../files/served-file.js';
import { createContentCodings } from '../../http/content-coding.js';
import { Exchange } from '../../http/exchange.js';
import { createPacer } from '../../http/paced-pieces.js';
import { sendFile } from './download.js';

/** More than the kernel's buffers of two sockets hold. */
const bytes = Buffer.alloc(64 * 1_024 * 1_024, 1);

describe('a file that is being sent', () => {
  const release = vi.fn();
  let asked: () => void = () => undefined;
  const file: ServedFile = {
    sha256: 'ab',
    byteLength: bytes.length,
    immutable: true,
    body: async () => {
      asked();
      return { bytes, sha256: 'ab', release };
    },
    stream: () => Promise.reject(new Error('not streamed')),
    release,
  };
  const server = createServer((request, response) => {
    void sendFile(
      file,
      new Exchange(request, response, {
        nextId: () => 'id',
        toAddress: () => '',
        codings: createContentCodings(),
        pacer: createPacer(),
      }),
    );
  });
  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  it('is held as long as its reader is there, however slow, and let go when the reader leaves', async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const asking = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const reader = connect(port, '127.0.0.1');
    reader.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    reader.pause();
    await asking;
    // Reads a little, so that sending has begun, and then stops.
    await new Promise<void>((resolve) => reader.once('readable', () => resolve()));
    expect(reader.read(1)).toHaveLength(1);
    expect(release).not.toHaveBeenCalled();
    reader.destroy();
    await vi.waitFor(() => expect(release).toHaveBeenCalled(), { timeout: 120_000 });
  });
});
