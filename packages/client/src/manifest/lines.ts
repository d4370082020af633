import { constants, open, rename, rm } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { orNotWritable, PackhouseError } from '@packhouse/runtime';

/** Bytes read or written at once: longer strings than this outlive many collections of garbage. */
export const PIECE = 65_536;

/** Lines one after the other: in a file, or in memory. */
export interface LineStore {
  /** Writes text at an offset, over what is there. */
  write(text: string, at: number): Promise<void>;
  /** Fills a buffer from an offset on; returns the bytes that there were. */
  read(into: Buffer, at: number): Promise<number>;
  /** Ends it after so many bytes; they are on the disk afterwards. */
  finish(bytes: number): Promise<void>;
  /** Closes it, its lines in this order; null: as they are. */
  close(order: Iterable<{ offset: number; length: number }> | null): Promise<void>;
}

/** Opens the lines of a file, which is made if there is none. Throws DATA_DIR_UNUSABLE, DISK_FULL. */
export async function openLineFile(name: string): Promise<LineStore> {
  const wrong = orNotWritable(name);
  // Not emptied: it is longer than what counts if a run was killed, and what follows is overwritten.
  const file = await open(name, constants.O_RDWR | constants.O_CREAT).catch(wrong);
  const read = async (into: Buffer, at: number): Promise<number> => {
    const { bytesRead } = await file.read(into, 0, into.length, at).catch(wrong);
    return bytesRead;
  };
  const sort = async (order: Iterable<{ offset: number; length: number }>): Promise<void> => {
    const draft = `${name}.new`;
    const sorted = await open(draft, 'w').catch(wrong);
    try {
      for (const { offset, length } of order) {
        const line = Buffer.alloc(length);
        await read(line, offset);
        await sorted.write(line).catch(orNotWritable(draft));
      }
      await sorted.sync();
    } finally {
      await sorted.close();
    }
    await rename(draft, name).catch(async (error: unknown) => {
      await rm(draft, { force: true });
      wrong(error);
    });
  };
  return {
    async write(text, at) {
      const data = Buffer.from(text);
      await file.write(data, 0, data.length, at).catch(wrong);
    },
    read,
    async finish(bytes) {
      await file.truncate(bytes).catch(wrong);
      await file.sync().catch(wrong);
    },
    async close(order) {
      try {
        if (order !== null) await sort(order);
      } finally {
        await file.close();
      }
    },
  };
}

/** Lines in memory. */
export function memoryLines(): LineStore {
  let data = Buffer.alloc(PIECE);
  let end = 0;
  return {
    async write(text, at) {
      const length = Buffer.byteLength(text);
      if (at + length > data.length) {
        const larger = Buffer.alloc(Math.max(at + length, 2 * data.length));
        data.copy(larger);
        data = larger;
      }
      data.write(text, at);
      end = Math.max(end, at + length);
    },
    read: async (into, at) => data.copy(into, 0, at, end),
    async finish(bytes) {
      end = bytes;
    },
    close: async () => undefined,
  };
}

/** Characters of a line; an entry of a manifest has about 1,100. */
const MAX_LINE = 65_536;

/**
 * The lines of a manifest, each with its line break, one in memory at a time; `name` is for messages. A chunk is not
 * used any more once the next is asked for. Throws MANIFEST_INVALID if a line is too long, or if the last one does not
 * end.
 */
export async function* readLines(source: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let number = 1;
  const invalid = (what: string): PackhouseError =>
    new PackhouseError({
      code: 'MANIFEST_INVALID',
      message: `Line ${number} of ${name} ${what}.`,
      hint: 'Download it again; if it stays so, ask its publisher.',
    });
  for await (const chunk of source) {
    rest += decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    let from = 0;
    for (let at = rest.indexOf('\n'); at !== -1; at = rest.indexOf('\n', from)) {
      yield rest.slice(from, at + 1);
      from = at + 1;
      number += 1;
    }
    rest = rest.slice(from);
    if (rest.length > MAX_LINE) throw invalid(`has more than ${MAX_LINE} characters and is not a manifest`);
  }
  if (rest + decoder.end() !== '') {
    throw invalid('does not end with a line break: the manifest is truncated');
  }
}
