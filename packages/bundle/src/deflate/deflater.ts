import { availableParallelism } from 'node:os';
import { crc32 } from 'node:zlib';
import type { Kind } from '@packhouse/chain';
import { type DeflateKernel, openDeflateKernel } from '@packhouse/kernels';
import type { Context, ThreadOptions } from '@packhouse/runtime';
import { ITEM_SEED } from '../filter/item-set.js';
import type { Piece } from '../layout/fragment.js';
import { type Deflate, deflatePiece, joinPieces } from './deflate-piece.js';
import { createDeflateThreads } from './deflate-threads.js';

/** Deflates by the kernel, in threads, and finds items. */
interface Deflater {
  deflate: Deflate;
  /** Ends the threads; what they have not done yet, and whatever comes later, zlib does. */
  close(): Promise<void>;
}

interface DeflaterOptions extends Partial<ThreadOptions> {
  context: Pick<Context, 'logger' | 'metrics'>;
}

/** The built program of a thread: tests from sources need it, too, because threads read no TypeScript. */
const PROGRAM = new URL('../../dist/deflate/deflate-thread.js', import.meta.url);
/** A shorter text is deflated here, in 75 µs at most; sending it to a thread would cost 40 µs more (65 KB: 60 of 200). */
const HERE_BYTES = 32_768;
/** Longer texts are cut into parts of about this size, which are pieces by themselves: 0.04 % larger, in bounded memory. */
const PART_BYTES = 1_048_576;
/** Longer texts are not scanned for items, in bounded memory: the packer finds them, in the file. */
const MAX_SCANNED_BYTES = 4_194_304;
const IDLE_MS = 30_000;
/** Deflating a block takes a fifth of what fetching and proving it takes, which is done in one thread. */
const MAX_THREADS = 4;

/**
 * Creates a deflater. A text that the kernel fails to deflate, because its thread ended or is missing, zlib deflates, and
 * it is counted. Where Node has no WebAssembly with SIMD, zlib does everything, and that is said once.
 */
export function createDeflater({
  context,
  threads = Math.min(MAX_THREADS, availableParallelism()),
  idleMs = IDLE_MS,
  program = PROGRAM,
}: DeflaterOptions): Deflater {
  let kernel: DeflateKernel;
  try {
    kernel = openDeflateKernel();
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

  const deflatePart = async (text: Buffer, kind?: Kind): Promise<Piece> => {
    try {
      return await pool.deflate(text, kind);
    } catch (error) {
      if (!closed) {
        failures.inc();
        context.logger.warn({ err: error, bytes: text.length }, 'the kernel failed; zlib deflates its text');
      }
      return deflatePiece(text);
    }
  };

  const deflateHere = (text: Buffer, kind?: Kind): Piece => {
    kernel.take(text);
    const body = Buffer.from(kernel.deflate().buffer);
    const items = kind === undefined ? null : kernel.items(kind, ITEM_SEED);
    const found = items === null ? undefined : Buffer.from(items.buffer);
    return { body, rawLength: text.length, crc32: crc32(text), items: found };
  };

  return {
    async deflate(text, kind) {
      if (text.length < HERE_BYTES) return deflateHere(text, kind);
      const parts = Math.max(1, Math.round(text.length / PART_BYTES));
      if (parts === 1) return deflatePart(text, kind);
      const size = Math.ceil(text.length / parts);
      const pieces: Promise<Piece>[] = [];
      for (let at = 0; at < text.length; at += size) pieces.push(deflatePart(text.subarray(at, at + size)));
      // In parts they cannot be found: one may begin in one part and end in the next.
      const items =
        kind === undefined || text.length > MAX_SCANNED_BYTES
          ? undefined
          : await pool.items(text, kind).catch(() => undefined);
      return { ...joinPieces(await Promise.all(pieces)), items };
    },
    async close() {
      closed = true;
      await pool.close();
    },
  };
}
