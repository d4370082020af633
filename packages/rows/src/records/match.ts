import type { Kind } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import type { JsonRecord } from './read-columns.js';

/** Which rows are wanted; absent: all. All texts are lower-case 0x hex. */
export interface Match {
  /**
   * Accounts: the address of a log; sender, recipient or new contract of a transaction, receipt or trace. One of them
   * is enough.
   */
  addresses?: readonly string[] | undefined;
  /** Of logs, by position as in eth_getLogs: one of the texts, or null for any topic or none. */
  topics?: readonly (readonly string[] | null)[] | undefined;
}

/** Members of a record that are accounts, by kind. */
const ACCOUNTS: Readonly<Record<Exclude<Kind, 'blocks'>, readonly (readonly string[])[]>> = {
  transactions: [['from'], ['to']],
  receipts: [['from'], ['to'], ['contractAddress']],
  logs: [['address']],
  traces: [
    ['action', 'from'],
    ['action', 'to'],
    ['action', 'address'],
    ['action', 'refundAddress'],
    ['action', 'author'],
    ['result', 'address'],
  ],
};

/** More texts than this are looked for in records, not in the text of blocks. */
const SEARCHED = 8;

/** Says which records are wanted. */
interface Matcher {
  /** False: the text of a block holds none of them. */
  mayHold(text: Buffer): boolean;
  has(record: JsonRecord): boolean;
}

/** Compiles a match, or null if all records are wanted. Throws USAGE if the kind has nothing to compare. */
export function createMatcher(kind: Kind, { addresses, topics }: Match): Matcher | null {
  const wanted = topics?.some((topic) => topic !== null) === true ? topics : undefined;
  if (addresses === undefined && wanted === undefined) return null;
  if (kind === 'blocks' || (wanted !== undefined && kind !== 'logs')) {
    throw new PackhouseError({
      code: 'USAGE',
      message: `Records of ${kind} have no ${kind === 'blocks' ? 'address' : 'topics'} to choose by.`,
      hint: wanted === undefined ? 'Leave out the addresses.' : 'Pull logs, or leave out the topics.',
    });
  }
  const accounts = addresses === undefined ? null : new Set(addresses);
  const byPlace = wanted?.map((topic) => (topic === null ? null : new Set(topic))) ?? [];
  const searched = [addresses, ...(wanted ?? [])].flatMap((texts) =>
    texts == null || texts.length > SEARCHED ? [] : [texts.map((text) => Buffer.from(text, 'latin1'))],
  );
  const paths = ACCOUNTS[kind];
  return {
    mayHold: (text) => searched.every((texts) => texts.some((one) => text.includes(one))),
    has(record) {
      if (accounts !== null && !paths.some((path) => accounts.has(memberAt(record, path) as string))) {
        return false;
      }
      const list = record.topics as readonly string[];
      return byPlace.every((topic, at) => topic === null || topic.has(list[at] as string));
    },
  };
}

function memberAt(record: JsonRecord, path: readonly string[]): unknown {
  let value: unknown = record;
  for (const name of path) value = (value as JsonRecord | null | undefined)?.[name];
  return value;
}
