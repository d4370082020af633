/** Values of fewer repetitions are packed. */
const MIN_RUN = 16;

/**
 * The hybrid of run lengths and packed bits of Parquet, without a length before it: `count` values of `width` bits.
 * https://parquet.apache.org/docs/file-format/data-pages/encodings/#run-length-encoding--bit-packing-hybrid-rle--3
 */
export function encodeRuns(values: Uint8Array | Uint32Array, count: number, width: number): Uint8Array {
  const valueBytes = Math.ceil(width / 8);
  // Each group of eight is packed, or part of a run that is shorter than that; with a head of at most five bytes.
  const out = new Uint8Array(Math.ceil(count / 8) * (width + 6) + 16);
  let end = 0;
  let packedFrom = 0;
  for (let at = 0; at < count; ) {
    const value = values[at] as number;
    let next = at + 1;
    while (next < count && values[next] === value) next += 1;
    if (next - at >= MIN_RUN) {
      if (packedFrom < at) end = pack(values, packedFrom, at, width, out, end);
      end = putVarint(out, end, (next - at) << 1);
      for (let byte = 0; byte < valueBytes; byte += 1) out[end++] = (value >>> (8 * byte)) & 255;
      at = next;
      packedFrom = at;
    } else {
      // Packed values come in groups of eight: a run begins where one ends.
      at = Math.min(count, packedFrom + ((next - packedFrom + 7) & ~7));
    }
  }
  if (packedFrom < count) end = pack(values, packedFrom, count, width, out, end);
  return out.subarray(0, end);
}

/** Packs values in groups of eight, the last one filled with zeros. Returns the end of the output. */
function pack(
  values: Uint8Array | Uint32Array,
  from: number,
  to: number,
  width: number,
  out: Uint8Array,
  start: number,
): number {
  const groups = (to - from + 7) >> 3;
  let end = putVarint(out, start, (groups << 1) | 1);
  let held = 0;
  let bits = 0;
  for (let at = from; at < from + groups * 8; at += 1) {
    held |= (at < to ? (values[at] as number) : 0) << bits;
    bits += width;
    while (bits >= 8) {
      out[end++] = held & 255;
      held >>>= 8;
      bits -= 8;
    }
  }
  return end;
}

function putVarint(out: Uint8Array, start: number, value: number): number {
  let end = start;
  let rest = value;
  while (rest >= 128) {
    out[end++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  out[end++] = rest;
  return end;
}
