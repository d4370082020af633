/** Values that RLP can encode: bytes, or a list of such. */
export type RlpItem = Uint8Array | readonly RlpItem[];

/** Encodes bytes and nested lists by RLP (Yellow Paper, appendix B). */
export function encodeRlp(item: RlpItem): Buffer {
  const out = Buffer.allocUnsafe(encodedLength(item));
  write(item, out, 0);
  return out;
}

/** Length of the RLP of a list whose items take `payload` bytes. */
export function listLength(payload: number): number {
  return payload + (payload < 56 ? 1 : 1 + lengthOfLength(payload));
}

function payloadLength(item: RlpItem): number {
  if (item instanceof Uint8Array) return item.length;
  let length = 0;
  for (const child of item) length += encodedLength(child);
  return length;
}

function encodedLength(item: RlpItem): number {
  const payload = payloadLength(item);
  if (item instanceof Uint8Array && payload === 1 && (item[0] as number) < 0x80) return 1;
  return listLength(payload);
}

function lengthOfLength(length: number): number {
  return length < 0x100 ? 1 : length < 0x1_0000 ? 2 : length < 0x100_0000 ? 3 : 4;
}

function write(item: RlpItem, out: Buffer, start: number): number {
  const isBytes = item instanceof Uint8Array;
  const payload = payloadLength(item);
  let at = start;
  if (!(isBytes && payload === 1 && (item[0] as number) < 0x80)) {
    const base = isBytes ? 0x80 : 0xc0;
    if (payload < 56) {
      out[at++] = base + payload;
    } else {
      const size = lengthOfLength(payload);
      out[at++] = base + 55 + size;
      out.writeUIntBE(payload, at, size);
      at += size;
    }
  }
  if (isBytes) {
    out.set(item, at);
    return at + payload;
  }
  for (const child of item) at = write(child, out, at);
  return at;
}
