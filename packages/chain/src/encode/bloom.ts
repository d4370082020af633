import { nibble } from '../record/hex.js';
import type { LogRecord } from '../record/log.js';
import type { Keccak } from './keccak.js';

/** Bytes of a bloom filter. */
export const BLOOM_BYTES = 256;

/** The bloom of no logs, as DATA. */
export const EMPTY_BLOOM = `0x${'0'.repeat(2 * BLOOM_BYTES)}`;

const REMEMBERED = 32_768;

/**
 * Computes bloom filters of logs; caches the bits of repeated addresses and topics.
 *
 * Source: Yellow Paper, section 4.3.1: three bits for each address and topic, from the first three pairs of bytes of
 * its hash.
 */
export class BloomMaker {
  private readonly places = new Map<string, number>();
  private readonly bits = new Uint16Array(3 * REMEMBERED);
  private readonly last: string[] = ['', '', '', '', ''];
  private readonly lastPlaces: number[] = [0, 0, 0, 0, 0];
  private readonly bloom = new Uint8Array(BLOOM_BYTES);
  private readonly decoded = Buffer.allocUnsafe(32);

  constructor(private readonly keccak: Keccak) {}

  /** The bloom of `logs`; its bytes are reused for the next. */
  of(logs: readonly Pick<LogRecord, 'address' | 'topics'>[]): Uint8Array {
    this.bloom.fill(0);
    for (let at = 0; at < logs.length; at++) {
      const { address, topics } = logs[at]!;
      this.add(address, 0);
      for (let topic = 0; topic < topics.length; topic++) this.add(topics[topic]!, topic + 1);
    }
    return this.bloom;
  }

  /** `position` is 0 for the address, 1 and on for topics: a log often has the same in this place as the log before. */
  private add(hex: string, position: number): void {
    const { bloom } = this;
    if (this.last[position] !== hex) {
      this.lastPlaces[position] = this.places.get(hex) ?? this.remember(hex);
      this.last[position] = hex;
    }
    const place = this.lastPlaces[position]!;
    for (let at = place; at < place + 3; at++) {
      const bit = this.bits[at]!;
      bloom[BLOOM_BYTES - 1 - (bit >> 3)]! |= 1 << (bit & 7);
    }
  }

  private remember(hex: string): number {
    if (this.places.size === REMEMBERED) {
      this.places.clear();
      this.last.fill('');
    }
    const place = 3 * this.places.size;
    const length = (hex.length - 2) >> 1;
    for (let at = 0; at < length; at++) {
      this.decoded[at] = (nibble(hex.charCodeAt(2 + 2 * at)) << 4) | nibble(hex.charCodeAt(3 + 2 * at));
    }
    const hash = this.keccak.hash(this.decoded.subarray(0, length));
    for (let pair = 0; pair < 3; pair++) {
      this.bits[place + pair] = ((hash[2 * pair]! << 8) | hash[2 * pair + 1]!) & 0x7ff;
    }
    this.places.set(hex, place);
    return place;
  }
}
