import type { Kind } from '@packhouse/chain';
import { createThreadPool, type ThreadOptions } from '@packhouse/runtime';
import type { Piece } from '../layout/fragment.js';
import { SpareBuffers } from './deflate-piece.js';

/** What a thread is sent. */
export interface Order {
  text: Uint8Array<ArrayBuffer>;
  /** Of what kind the text has whole records, if its items are wanted. */
  kind?: Kind | undefined;
  /** Whether its piece is wanted. */
  deflate: boolean;
}

/** What a thread answers. */
export interface Answer {
  piece?: { body: Uint8Array<ArrayBuffer>; crc32: number };
  /** Absent: not wanted, or of another form. */
  items?: Uint8Array<ArrayBuffer>;
  /** What was sent, to be used again. */
  text?: Uint8Array<ArrayBuffer>;
}

/** Threads with a kernel each. */
interface DeflateThreads {
  /** Throws as `ThreadPool.run` does. */
  deflate(text: Buffer, kind?: Kind): Promise<Piece>;
  /** The items of a text (see Piece); undefined if it is of another form. Throws as `deflate`. */
  items(text: Buffer, kind: Kind): Promise<Buffer | undefined>;
  close(): Promise<void>;
}

/** Creates the threads; none is started yet. */
export function createDeflateThreads(options: ThreadOptions): DeflateThreads {
  const pool = createThreadPool<Order, Answer>(options);
  const spare = new SpareBuffers();

  const run = async (source: Buffer, wanted: Omit<Order, 'text'>): Promise<Answer> => {
    const answer = await pool.run(source.length, () => {
      // The text stays here, for it may have to be deflated again.
      const text = spare.copy(source);
      return { order: { text, ...wanted }, moved: [text.buffer] };
    });
    if (answer.text !== undefined) spare.giveBack(answer.text.buffer);
    return answer;
  };

  return {
    async deflate(text, kind) {
      const { piece, items } = await run(text, { kind, deflate: true });
      if (piece === undefined) throw new Error('A thread answered without a piece');
      const body = Buffer.from(piece.body.buffer);
      return { body, rawLength: text.length, crc32: piece.crc32, items: items && Buffer.from(items.buffer) };
    },
    async items(text, kind) {
      const { items } = await run(text, { kind, deflate: false });
      return items && Buffer.from(items.buffer);
    },
    close: pool.close,
  };
}
