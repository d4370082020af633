import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { KINDS, type Kind } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';

/** A block whose hash may be unknown: the one before the first that a feed was asked for. */
interface BaseBlock {
  block: number;
  hash: string | null;
}

/** Where a feed stands: all that it has to know to go on, at any gateway and at any time. */
export interface FeedState {
  /** In the order of KINDS. */
  kinds: readonly Kind[];
  /** The first block that was asked for. */
  start: number;
  /** The next block of each kind. */
  next: Map<Kind, number>;
  /** The sequence in the manifest of each kind up to which repairs were reported; -1: none. */
  seen: Map<Kind, number>;
  /** The highest block that can no longer be undone, as far as the feed said so; at first the one before `start`. */
  base: BaseBlock;
  /** The highest delivered block above the base; null: there is none. */
  tip: { block: number; hash: string } | null;
  /** When it was written, in seconds since 1970. */
  madeAt: number;
}

const VERSION = 1;
const ID_BYTES = 8;
const TAG_BYTES = 16;
const HASH_BYTES = 32;
/** Of a block number: the index has blocks below 2^48. */
const BLOCK_BYTES = 6;
const SEQUENCE_BYTES = 4;
/** Longer texts are not even decoded. */
const MAX_TEXT = 1_024;

/** Writes and reads the cursors of one network. */
export type Cursors = ReturnType<typeof createCursors>;

/**
 * Creates it; `seal` is the secret of the installation, from which a key is derived for cursors alone.
 *
 * ```
 * version 1 | installation 8 | name of the network 1 + n | kinds 1 | start 6 | next 6, sequence + 1 4, of each kind
 * | base + 1 6, whether its hash follows 1, hash 32 | whether a tip follows 1, tip 6, hash 32 | seconds 6 | tag 16
 * ```
 *
 * The tag is the first half of HMAC-SHA256 over all before it. The text is base64url without padding.
 */
export function createCursors({ seal, network }: { seal: Buffer; network: string }) {
  const key = createHmac('sha256', seal).update('packhouse feed cursor').digest();
  const installation = createHash('sha256').update('packhouse installation').update(seal).digest();
  const id = installation.subarray(0, ID_BYTES);
  const head = Buffer.concat([Buffer.from([VERSION]), id, withLength(network)]);
  const room = Buffer.alloc(head.length + 512);
  head.copy(room);
  const tag = (bytes: Buffer): Buffer =>
    createHmac('sha256', key).update(bytes).digest().subarray(0, TAG_BYTES);

  return {
    /** The text of a state. */
    encode(state: FeedState): string {
      const writer = createWriter(room, head.length);
      writer.small(kindBits(state.kinds));
      writer.block(state.start);
      for (const kind of state.kinds) {
        writer.block(state.next.get(kind) as number);
        writer.sequence((state.seen.get(kind) as number) + 1);
      }
      writer.block(state.base.block + 1);
      writer.optionalHash(state.base.hash);
      if (state.tip === null) writer.small(0);
      else {
        writer.small(1);
        writer.block(state.tip.block);
        writer.hash(state.tip.hash);
      }
      writer.block(state.madeAt);
      const bytes = room.subarray(0, writer.at());
      return Buffer.concat([bytes, tag(bytes)]).toString('base64url');
    },
    /** The state of a text. Throws CURSOR_INVALID, CURSOR_FOREIGN. */
    decode(text: string): FeedState {
      const bytes = decodeText(text);
      if (bytes === null || bytes[0] !== VERSION || bytes.length < 1 + ID_BYTES + 1 + TAG_BYTES) {
        throw invalid(network, 'it is not the cursor of a feed, or was cut off');
      }
      if (!bytes.subarray(1, 1 + ID_BYTES).equals(id))
        throw foreign(network, 'it is of another installation');
      const signed = bytes.subarray(0, bytes.length - TAG_BYTES);
      if (!timingSafeEqual(tag(signed), bytes.subarray(-TAG_BYTES))) {
        throw invalid(network, 'it was cut off or changed');
      }
      const length = bytes[1 + ID_BYTES] as number;
      const name = bytes.toString('utf8', 2 + ID_BYTES, 2 + ID_BYTES + length);
      if (name !== network) throw foreign(network, `it is of the network ${name}`);
      return readState(signed, head.length);
    },
  };
}

function readState(bytes: Buffer, from: number): FeedState {
  const reader = createReader(bytes, from);
  const bits = reader.small();
  const kinds = KINDS.filter((_, at) => (bits >> at) & 1);
  const start = reader.block();
  const next = new Map<Kind, number>();
  const seen = new Map<Kind, number>();
  for (const kind of kinds) {
    next.set(kind, reader.block());
    seen.set(kind, reader.sequence() - 1);
  }
  const base = { block: reader.block() - 1, hash: reader.small() === 1 ? reader.hash() : null };
  const tip = reader.small() === 1 ? { block: reader.block(), hash: reader.hash() } : null;
  return { kinds, start, next, seen, base, tip, madeAt: reader.block() };
}

function createWriter(bytes: Buffer, from: number) {
  let at = from;
  const number = (value: number, size: number): void => {
    at = bytes.writeUIntBE(value, at, size);
  };
  const hash = (text: string): void => {
    at += bytes.write(text.slice(2), at, 'hex');
  };
  return {
    at: () => at,
    small: (value: number) => number(value, 1),
    block: (value: number) => number(value, BLOCK_BYTES),
    sequence: (value: number) => number(value, SEQUENCE_BYTES),
    hash,
    optionalHash(text: string | null): void {
      number(text === null ? 0 : 1, 1);
      if (text !== null) hash(text);
    },
  };
}

function createReader(bytes: Buffer, from: number) {
  let at = from;
  const number = (size: number): number => {
    at += size;
    return bytes.readUIntBE(at - size, size);
  };
  return {
    small: () => number(1),
    block: () => number(BLOCK_BYTES),
    sequence: () => number(SEQUENCE_BYTES),
    hash(): string {
      at += HASH_BYTES;
      return `0x${bytes.toString('hex', at - HASH_BYTES, at)}`;
    },
  };
}

/** The bytes of a text that is the canonical base64url of them, or null. */
function decodeText(text: string): Buffer | null {
  if (text.length > MAX_TEXT || !/^[A-Za-z0-9_-]+$/.test(text)) return null;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

function withLength(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

const kindBits = (kinds: readonly Kind[]): number =>
  kinds.reduce((bits, kind) => bits | (1 << KINDS.indexOf(kind)), 0);

function invalid(network: string, why: string): PackhouseError {
  return new PackhouseError({
    code: 'CURSOR_INVALID',
    message: `The cursor cannot be used for the feed of ${network}: ${why}.`,
    hint: 'Send a cursor exactly as a step has it, or begin with a block.',
    data: { network },
  });
}

function foreign(network: string, why: string): PackhouseError {
  return new PackhouseError({
    code: 'CURSOR_FOREIGN',
    message: `The cursor cannot be used for the feed of ${network}: ${why}.`,
    hint: 'Use it where it is from, or begin with a block.',
    data: { network },
  });
}
