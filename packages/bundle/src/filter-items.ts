import { createKeccak256, type Keccak, type Kind } from '@packhouse/chain';
import { bundleInvalid } from './fragment.js';

/** Collects what the filter of a bundle holds. */
export interface ItemCollector {
  /** Adds one element of a block's record: a log, a transaction or a trace. Throws BUNDLE_INVALID. */
  add(element: unknown): void;
  items(): Iterable<Uint8Array>;
}

/** The kinds whose bundles have filters. */
export function hasFilter(kind: Kind): boolean {
  return kind in ADDERS;
}

/**
 * Creates a collector for the bundles of a kind that has filters. Its items are bytes: an address (20), a topic (32),
 * or an address with the first topic of one of its logs (52).
 */
export async function createItemCollector(kind: Kind): Promise<ItemCollector> {
  const add = ADDERS[kind];
  if (add === undefined) throw new Error(`bundles of ${kind} have no filter`);
  const found = new Set<string>();
  const keccak = await createKeccak256();
  return {
    add(element) {
      if (typeof element !== 'object' || element === null)
        throw bundleInvalid(`A record of ${kind} is no object.`);
      add(found, element as Fields, keccak);
    },
    *items() {
      for (const hex of found) yield Buffer.from(hex, 'hex');
    },
  };
}

/** The item of an address, a topic, or an address and a first topic, in lower-case `0x` hex. */
export function filterItem(...values: readonly string[]): Uint8Array {
  return Buffer.from(values.map((value) => value.slice(2).toLowerCase()).join(''), 'hex');
}

type Fields = Readonly<Record<string, unknown>>;
/** Hex without `0x`. */
type Found = Set<string>;

const ADDRESS = /^0x[0-9a-f]{40}$/;
const TOPIC = /^0x[0-9a-f]{64}$/;
/** Deposits of OP networks: the nonce in their records may not be the one that decides the created address. */
const DEPOSIT = '0x7e';

const ADDERS: Partial<Record<Kind, (found: Found, element: Fields, keccak: Keccak) => void>> = {
  logs(found, { address, topics }) {
    const account = hexOf(address, ADDRESS);
    found.add(account);
    for (const [index, value] of (topics as unknown[]).entries()) {
      const topic = hexOf(value, TOPIC);
      found.add(topic);
      if (index === 0) found.add(account + topic);
    }
  },
  transactions(found, { from, to, type, nonce }, keccak) {
    const sender = hexOf(from, ADDRESS);
    found.add(sender);
    if (to != null) found.add(hexOf(to, ADDRESS));
    else if (type !== DEPOSIT) found.add(createdAddress(sender, nonce, keccak));
  },
  traces(found, { action, result }) {
    const { from, to, address, refundAddress, author } = action as Fields;
    const created = (result as Fields | null | undefined)?.address;
    for (const value of [from, to, address, refundAddress, author, created]) {
      if (value != null) found.add(hexOf(value, ADDRESS));
    }
  },
};

function hexOf(value: unknown, form: RegExp): string {
  if (typeof value === 'string' && form.test(value)) return value.slice(2);
  throw bundleInvalid(
    `A record has ${JSON.stringify(value)?.slice(0, 80)} in the place of an address or a topic.`,
  );
}

/** Where CREATE by a transaction puts the contract: the end of keccak(rlp([sender, nonce])). */
function createdAddress(sender: string, nonce: unknown, keccak: Keccak): string {
  if (typeof nonce !== 'string' || !/^0x[0-9a-f]{1,16}$/.test(nonce)) {
    throw bundleInvalid(`A transaction has ${JSON.stringify(nonce)?.slice(0, 80)} as its nonce.`);
  }
  const digits = nonce.slice(2);
  const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
  const small = bytes.length === 1 && (bytes[0] as number) < 0x80;
  const count = small ? (bytes[0] === 0 ? Buffer.of(0x80) : bytes) : Buffer.of(0x80 + bytes.length, ...bytes);
  const list = Buffer.concat([Buffer.of(0x94), Buffer.from(sender, 'hex'), count]);
  const digest = keccak.hash(Buffer.concat([Buffer.of(0xc0 + list.length), list]));
  return Buffer.from(digest.subarray(12)).toString('hex');
}
