const HEADER_BYTES = 19;
const NONE = Buffer.alloc(0);

/**
 * Reads rows in the binary COPY format as they arrive; each value is a Buffer of its own, copied once.
 *
 * The driver's own rows cannot be used for bytea: it reads a value as UTF-8 text, so binary is mangled and hex
 * costs twice the bytes (measured for bodies of 300 KB: 90 to 150 MB/s by hex, 640 to 710 MB/s this way).
 */
export async function* decodeCopy(chunks: AsyncIterable<Buffer>): AsyncGenerator<(Buffer | null)[]> {
  let buffered: Buffer = NONE;
  const source = chunks[Symbol.asyncIterator]();

  /** Moves the next chunk behind what is left. False at the end. */
  const more = async (): Promise<boolean> => {
    const next = await source.next();
    if (next.done === true) return false;
    buffered = buffered.length === 0 ? next.value : Buffer.concat([buffered, next.value]);
    return true;
  };
  const take = async (bytes: number): Promise<Buffer> => {
    if (bytes <= buffered.length) {
      const taken = buffered.subarray(0, bytes);
      buffered = buffered.subarray(bytes);
      return taken;
    }
    const whole = Buffer.allocUnsafe(bytes);
    let filled = 0;
    while (filled < bytes) {
      if (buffered.length === 0 && !(await more())) throw new RangeError('a COPY ended inside a row');
      const used = buffered.copy(whole, filled, 0, bytes - filled);
      buffered = buffered.subarray(used);
      filled += used;
    }
    return whole;
  };

  try {
    await take(HEADER_BYTES);
    for (;;) {
      const fields = (await take(2)).readInt16BE();
      if (fields === -1) return;
      const row: (Buffer | null)[] = [];
      for (let field = 0; field < fields; field += 1) {
        const length = (await take(4)).readInt32BE();
        row.push(length === -1 ? null : await take(length));
      }
      yield row;
    }
  } finally {
    // The statement is over when its stream has ended, not when its last row has come.
    while (await more()) buffered = NONE;
  }
}
