import { availableParallelism } from 'node:os';
import { crc32 } from 'node:zlib';
import type { Context } from '@packhouse/runtime';
import { openKernel } from './deflate-kernel.js';
import { type Deflate, deflatePiece, joinPieces } from './deflate-piece.js';
import { createDeflateThreads, type ThreadOptions } from './deflate-threads.js';
import type { Piece } from './fragment.js';

/** Deflates by the kernel, in threads. */
interface Deflater {
  deflate: Deflate;
  /** Ends the threads; what they have not done yet, and whatever comes later, zlib does. */
  close(): Promise<void>;
}

interface DeflaterOptions extends Partial<ThreadOptions> {
  context: Pick<Context, 'logger' | 'metrics'>;
}

/** The built program of a thread: tests from sources need it, too, because threads read no TypeScript. */
const PROGRAM = new URL('../dist/deflate-thread.js', import.meta.url);
/** A shorter text is deflated here, in 75 µs at most; sending it to a thread would cost 40 µs more (65 KB: 60 of 200). */
const HERE_BYTES = 32_768;
/** Longer texts are cut into parts of about this size, which are pieces by themselves: 0.04 % larger, in bounded memory. */
const PART_BYTES = 1_048_576;
const IDLE_MS = 30_000;
/** Deflating a block takes a fifth of what fetching and proving it takes, which is done in one thread. */
const MOST_THREADS = 4;

/**
 * Creates a deflater. A text that the kernel fails to deflate, because its thread ended or is missing, zlib deflates, and
 * it is counted. Where Node has no WebAssembly with SIMD, zlib does everything, and that is said once.
 */
export function createDeflater({
  context,
  threads = Math.min(MOST_THREADS, availableParallelism()),
  idleMs = IDLE_MS,
  program = PROGRAM,
}: DeflaterOptions): Deflater {
  let kernel: ReturnType<typeof openKernel>;
  try {
    kernel = openKernel();
  } catch (error) {
    context.logger.warn(
      { err: error },
      'this Node has no WebAssembly with SIMD: zlib deflates instead of the kernel',
    );
    return { deflate: (text) => deflatePiece(text), close: async () => undefined };
  }
  const failures = context.metrics.counter(
    'packhouse_deflate_failures_total',
    'Texts that zlib deflated because a thread of the kernel ended',
  );
  const pool = createDeflateThreads({ threads, idleMs, program });
  let closed = false;

  const deflatePart = async (text: Buffer): Promise<Piece> => {
    try {
      return await pool.deflate(text);
    } catch (error) {
      if (!closed) {
        failures.inc();
        context.logger.warn({ err: error, bytes: text.length }, 'the kernel failed; zlib deflates its text');
      }
      return deflatePiece(text);
    }
  };

  return {
    async deflate(text) {
      if (text.length < HERE_BYTES) {
        return { body: Buffer.from(kernel(text).buffer), rawLength: text.length, crc32: crc32(text) };
      }
      const size = Math.ceil(text.length / Math.max(1, Math.round(text.length / PART_BYTES)));
      const pieces: Promise<Piece>[] = [];
      for (let at = 0; at < text.length; at += size) pieces.push(deflatePart(text.subarray(at, at + size)));
      return pieces.length === 1 ? (pieces[0] as Promise<Piece>) : joinPieces(await Promise.all(pieces));
    },
    async close() {
      closed = true;
      await pool.close();
    },
  };
}
