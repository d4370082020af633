import { gzipSync } from 'node:zlib';

const BYTES = 5_000_000;
const ELEMENTS = 100_000;
const ACCEPTED_BYTES = 900_000;
const ACCEPTED_PARTS = 32_000;
const BOMB_BYTES = 200_000_000;

/** Bodies that cost much to read, by name. */
const BODIES = {
  /** One string of 5 MB. */
  long: () => call(`"0x${'a'.repeat(BYTES)}"`),
  /** 2.5 million arrays, each in the one before. */
  deep: () => call(`${'['.repeat(BYTES / 2)}${']'.repeat(BYTES / 2)}`),
  /** 5 MB of small objects. */
  wide: () => call(new Array(BYTES / 8).fill('{"a":1}').join(',')),
  /** A batch of 100,000 calls that are none. */
  elements: () => Buffer.from(`[${new Array(ELEMENTS).fill('{"id":1}').join(',')}]`),
  /** About the largest that is accepted by default: 1 MB, and 32,000 parts. */
  accepted: () => call(`"${'a'.repeat(ACCEPTED_BYTES)}",[${new Array(ACCEPTED_PARTS).fill('[]').join(',')}]`),
  /** 200 MB of blanks, compressed. */
  bomb: () => gzipSync(Buffer.alloc(BOMB_BYTES, ' ')),
} as const;

export type BodyName = keyof typeof BODIES;

/** Makes the body of this name. */
export function toBody(name: BodyName): Buffer {
  return BODIES[name]();
}

function call(parameter: string): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[${parameter}]}`);
}
