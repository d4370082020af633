import { bundleInvalid } from '../layout/fragment.js';
import { getTail, openFilter, withTail } from './skip-filter.js';

/** A filter that also has the times of the bundle's blocks, in seconds since 1970. */
export function withTimes(filter: Uint8Array, times: readonly number[]): Uint8Array {
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
  return withTail(filter, Uint8Array.from(bytes));
}

/** A filter with the times of another alone: small enough to keep many. Throws BUNDLE_INVALID. */
export function timesAlone(filter: Uint8Array): Uint8Array {
  return withTail(openFilter(), getTail(filter));
}

/** The times of a bundle's blocks, in seconds since 1970; null if its filter has none. Throws BUNDLE_INVALID. */
export function readTimes(filter: Uint8Array, blocks: number): number[] | null {
  const bytes = getTail(filter);
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
