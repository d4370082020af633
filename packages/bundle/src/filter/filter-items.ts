import { createKeccak256, type Keccak, type Kind } from '@packhouse/chain';
import { getOrAdd } from '@packhouse/runtime';
import { bundleInvalid } from '../layout/fragment.js';

/** Collects what the filter of a bundle holds. */
interface ItemCollector {
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
  const found: Found = { addresses: new Set(), topics: new Set(), firsts: new Map() };
  const keccak = await createKeccak256();
  return {
    add(element) {
      add(found, toFields(element), keccak);
    },
    *items() {
      for (const address of found.addresses) yield filterItem(address);
      for (const topic of found.topics) yield filterItem(topic);
      for (const [address, topics] of found.firsts) {
        for (const topic of topics) yield filterItem(address, topic);
      }
    },
  };
}

/** The item of an address, a topic, or an address and a first topic, in lower-case `0x` hex. */
export function filterItem(...values: readonly string[]): Uint8Array {
  return Buffer.from(values.map((value) => value.slice(2).toLowerCase()).join(''), 'hex');
}

type Fields = Readonly<Record<string, unknown>>;

/** All as the records have them: a bundle has each many times, and only the first is looked at. */
interface Found {
  addresses: Set<string>;
  topics: Set<string>;
  /** First topics by the address of their logs. */
  firsts: Map<string, Set<string>>;
}

const ADDRESS = /^0x[0-9a-f]{40}$/;
const TOPIC = /^0x[0-9a-f]{64}$/;
/** Deposits of OP networks: the nonce in their records may not be the one that decides the created address. */
const DEPOSIT = '0x7e';

const ADDERS: Partial<Record<Kind, (found: Found, element: Fields, keccak: Keccak) => void>> = {
  logs({ addresses, topics: found, firsts }, { address, topics }) {
    const account = note(addresses, address, ADDRESS);
    if (!Array.isArray(topics)) throw misplaced(topics);
    for (const topic of topics) note(found, topic, TOPIC);
    if (topics.length === 0) return;
    getOrAdd(firsts, account, () => new Set()).add(topics[0]);
  },
  transactions({ addresses }, { from, to, type, nonce }, keccak) {
    const sender = note(addresses, from, ADDRESS);
    if (to != null) note(addresses, to, ADDRESS);
    else if (type !== DEPOSIT) addresses.add(createdAddress(sender, nonce, keccak));
  },
  traces({ addresses }, { action, result }) {
    const { from, to, address, refundAddress, author } = toFields(action);
    const created = result == null ? undefined : toFields(result).address;
    for (const value of [from, to, address, refundAddress, author, created]) {
      if (value != null) note(addresses, value, ADDRESS);
    }
  },
};

function toFields(value: unknown): Fields {
  if (typeof value === 'object' && value !== null) return value as Fields;
  throw bundleInvalid(`A record has ${shown(value)} in the place of an object.`);
}

function note(found: Set<string>, value: unknown, form: RegExp): string {
  if (found.has(value as string)) return value as string;
  if (typeof value !== 'string' || !form.test(value)) throw misplaced(value);
  found.add(value);
  return value;
}

function misplaced(value: unknown): Error {
  return bundleInvalid(`A record has ${shown(value)} in the place of addresses or topics.`);
}

function shown(value: unknown): string {
  return String(JSON.stringify(value)).slice(0, 80);
}

/** Where CREATE by a transaction puts the contract: the end of keccak(rlp([sender, nonce])). */
function createdAddress(sender: string, nonce: unknown, keccak: Keccak): string {
  if (typeof nonce !== 'string' || !/^0x[0-9a-f]{1,16}$/.test(nonce)) {
    throw bundleInvalid(`A transaction has ${shown(nonce)} as its nonce.`);
  }
  const digits = nonce.slice(2);
  const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
  const small = bytes.length === 1 && (bytes[0] as number) < 0x80;
  const count = small ? (bytes[0] === 0 ? Buffer.of(0x80) : bytes) : Buffer.of(0x80 + bytes.length, ...bytes);
  const list = Buffer.concat([Buffer.of(0x94), Buffer.from(sender.slice(2), 'hex'), count]);
  const digest = keccak.hash(Buffer.concat([Buffer.of(0xc0 + list.length), list]));
  return `0x${Buffer.from(digest.subarray(12)).toString('hex')}`;
}
