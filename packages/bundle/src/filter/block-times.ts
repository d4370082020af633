import { bundleInvalid } from '../layout/fragment.js';

/** The times of a bundle's blocks, in seconds since 1970, as a filter has them. */
export function encodeTimes(times: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  let before = 0;
  for (const time of times) {
    // Most networks never go back; zigzag has both signs, the lowest bit is that of the sign.
    const difference = time - before;
    let rest = difference < 0 ? -difference * 2 - 1 : difference * 2;
    while (rest >= 128) {
      bytes.push((rest % 128) + 128);
      rest = Math.floor(rest / 128);
    }
    bytes.push(rest);
    before = time;
  }
  return Uint8Array.from(bytes);
}

/** The times of a bundle's blocks, in seconds since 1970; null if its filter has none. Throws BUNDLE_INVALID. */
export function readTimes(bytes: Uint8Array, blocks: number): number[] | null {
  if (bytes.length === 0) return null;
  const times: number[] = [];
  let time = 0;
  for (let at = 0; at < bytes.length; ) {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      value += ((byte ?? 0) % 128) * scale;
      if (byte === undefined || !Number.isSafeInteger(value)) throw invalid(blocks);
      if (byte < 128) break;
    }
    time += value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    if (time < 0 || !Number.isSafeInteger(time)) throw invalid(blocks);
    times.push(time);
  }
  if (times.length !== blocks) throw invalid(blocks);
  return times;
}

function invalid(blocks: number): Error {
  return bundleInvalid(`The filter does not have the times of ${blocks} blocks.`);
}
