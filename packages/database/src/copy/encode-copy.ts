/** Starts every binary COPY: signature, no flags, no extension (PostgreSQL manual, COPY, "Binary Format"). */
const HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const TRAILER = Buffer.from([0xff, 0xff]);
/** A value from this size on is passed on as it is instead of being copied next to its neighbours. */
const PASS_ON_BYTES = 8_192;
const SCRATCH_BYTES = 65_536;

/** Writes rows in the binary COPY format. */
export interface CopyEncoder {
  /** Begins a row; exactly `fields` values follow. */
  row(fields: number): void;
  int2(value: number): void;
  int4(value: number): void;
  int8(value: number): void;
  bytes(value: Buffer): void;
  none(): void;
  /** Everything written, as chunks in order; large values are not copied. */
  finish(): Buffer[];
}

/** Makes an encoder. */
export function createCopyEncoder(): CopyEncoder {
  const chunks: Buffer[] = [];
  let scratch = Buffer.allocUnsafe(SCRATCH_BYTES);
  let begin = 0;
  let end = 0;

  const room = (bytes: number): void => {
    if (end + bytes <= scratch.length) return;
    flush();
    scratch = Buffer.allocUnsafe(SCRATCH_BYTES);
    begin = 0;
    end = 0;
  };
  const flush = (): void => {
    if (end > begin) chunks.push(scratch.subarray(begin, end));
    begin = end;
  };
  const put = (value: Buffer): void => {
    room(value.length);
    end += value.copy(scratch, end);
  };
  const length = (bytes: number): void => {
    room(4);
    end = scratch.writeInt32BE(bytes, end);
  };

  put(HEADER);
  return {
    row: (fields) => {
      room(2);
      end = scratch.writeInt16BE(fields, end);
    },
    int2: (value) => {
      length(2);
      room(2);
      end = scratch.writeInt16BE(value, end);
    },
    int4: (value) => {
      length(4);
      room(4);
      end = scratch.writeInt32BE(value, end);
    },
    int8: (value) => {
      length(8);
      room(8);
      end = scratch.writeBigInt64BE(BigInt(value), end);
    },
    bytes: (value) => {
      length(value.length);
      if (value.length < PASS_ON_BYTES) {
        put(value);
      } else {
        flush();
        chunks.push(value);
      }
    },
    none: () => length(-1),
    finish: () => {
      put(TRAILER);
      flush();
      return chunks;
    },
  };
}
