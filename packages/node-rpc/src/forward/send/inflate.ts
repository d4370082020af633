import { createGunzip } from 'node:zlib';

/** What bytes come from, and can be stopped at: undici's controller of a response, or what inflates it. */
export interface ByteSource {
  readonly paused: boolean;
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

/** A source that inflates what it is given, in the threads of zlib. */
export interface Inflater extends ByteSource {
  /** Takes a compressed chunk; the connection is not read while too many wait. */
  write(chunk: Buffer): void;
  /** All compressed bytes are there. */
  end(): void;
  destroy(): void;
}

/** Blocks and logs are inflated 5 to 20 times; a text of one character comes near gzip's limit, 1,032 times. */
const BOMB_RATIO = 500;
const CHUNK_BYTES = 65_536;

/**
 * Inflates the gzip body of one response, at the pace of its reader. Bytes beyond `maxBytes` that are inflated more than
 * 500 times are a bomb: it is cut, and `failed` is called, as for bytes that are not gzip.
 */
export function createInflater(
  connection: ByteSource,
  maxBytes: number,
  on: { data(chunk: Buffer): void; end(): void; failed(error: Error): void },
): Inflater {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  let inflated = 0;
  let over = false;
  const fail = (error: Error): void => {
    if (over) return;
    over = true;
    gunzip.destroy();
    on.failed(error);
    connection.abort(error);
  };
  gunzip.on('data', (chunk: Buffer) => {
    if (over) return;
    inflated += chunk.length;
    if (inflated > maxBytes && inflated > gunzip.bytesWritten * BOMB_RATIO) {
      fail(new Error(`${gunzip.bytesWritten} bytes of gzip became more than ${maxBytes} bytes`));
      return;
    }
    // A small one would keep the whole buffer that it is a part of.
    on.data(chunk.length < CHUNK_BYTES / 2 ? Buffer.from(chunk) : chunk);
  });
  gunzip.on('drain', () => connection.resume());
  gunzip.on('error', fail);
  gunzip.on('end', () => {
    if (!over) on.end();
    over = true;
  });
  return {
    get paused() {
      return gunzip.isPaused();
    },
    pause: () => void gunzip.pause(),
    resume: () => void gunzip.resume(),
    write(chunk) {
      if (!over && !gunzip.write(chunk)) connection.pause();
    },
    end: () => void gunzip.end(),
    abort(reason) {
      over = true;
      gunzip.destroy();
      connection.abort(reason);
    },
    destroy() {
      over = true;
      gunzip.destroy();
    },
  };
}
