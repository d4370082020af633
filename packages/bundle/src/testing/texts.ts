/** Bytes without a pattern, the same for a seed. */
export function randomBytes(seed: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  for (let i = 0; i < length; i += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[i] = state >>> 11;
  }
  return bytes;
}

/** Text as records of a chain are: hashes, of which some come again, small numbers, and data of zeros; cut at `length`. */
export function hexJson(seed: number, length: number): Buffer {
  const dice = randomBytes(seed, 1_024);
  const hashes = Array.from({ length: 24 }, (_, i) => randomBytes(seed + i, 32).toString('hex'));
  const records: string[] = [];
  for (let size = 0, i = 0; size < length; i += 1) {
    const at = (i * 7) % 1_000;
    const hash =
      i % 3 === 0 ? randomBytes(seed * 31 + i, 32).toString('hex') : hashes[(dice[at] as number) % 24];
    const data = '0'.repeat((dice[at + 1] as number) % 64) + dice.toString('hex', at, at + 12);
    const record = `{"hash":"0x${hash}","gas":"0x${i.toString(16)}","input":"0x${data}","type":"0x2"}`;
    records.push(record);
    size += record.length + 1;
  }
  return Buffer.from(records.join(','), 'latin1').subarray(0, length);
}
