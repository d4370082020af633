import { dataBytes, keccak } from './hex.js';
import type { RpcLog } from './recorded-block.js';

/** A 2048-bit logs bloom that logs are added to (Yellow Paper 4.3.1). */
interface LogsBloom {
  readonly bytes: Buffer;
  addLog(log: RpcLog): void;
  addBloom(other: Buffer): void;
}

/** The three bit positions of each address and topic that was met: they repeat a lot. */
export type BloomBits = Map<string, readonly number[]>;

/** An empty bloom. */
export function createLogsBloom(known: BloomBits = new Map()): LogsBloom {
  const bytes = Buffer.alloc(256);
  const add = (hex: string): void => {
    let bits = known.get(hex);
    if (bits === undefined) {
      const hash = keccak(dataBytes(hex));
      bits = [0, 2, 4].map((at) => (((hash[at] as number) << 8) | (hash[at + 1] as number)) & 2047);
      known.set(hex, bits);
    }
    for (const bit of bits) {
      const at = 255 - (bit >> 3);
      bytes[at] = (bytes[at] as number) | (1 << (bit & 7));
    }
  };
  return {
    bytes,
    addLog(log) {
      add(log.address);
      for (const topic of log.topics) add(topic);
    },
    addBloom(other) {
      for (let at = 0; at < 256; at++) bytes[at] = (bytes[at] as number) | (other[at] as number);
    },
  };
}
