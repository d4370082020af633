import type { Decoder, Match } from '@packhouse/rows';
import { getTopics } from '@packhouse/rows';
import { PackhouseError } from '@packhouse/runtime';

/** Which rows are wanted, as it is written. */
export interface WantedRows {
  /** One of these accounts; none: all. */
  address?: string | readonly string[] | undefined;
  /**
   * By position as in eth_getLogs: a text, several of which one is enough, or null for any. The first is what
   * `getTopics` takes (`Transfer` with an ABI); the others are 32 bytes, or an address.
   */
  topics?: readonly (string | readonly string[] | null)[] | undefined;
}

const ADDRESS = /^0x[0-9a-f]{40}$/;
const TOPIC = /^0x[0-9a-f]{64}$/;
const MAX_TOPICS = 4;

/** Reads which rows are wanted. Throws USAGE, ABI_INVALID. */
export async function getMatch(
  { address, topics = [] }: WantedRows,
  decoder: Decoder | null,
): Promise<Match> {
  const addresses = toList(address).map((text) => {
    const lower = text.toLowerCase();
    if (ADDRESS.test(lower)) return lower;
    throw usage(`"${text.slice(0, 80)}" is not an address.`, 'An address is 0x and 40 hex digits.');
  });
  if (topics.length > MAX_TOPICS)
    throw usage(`A log has at most ${MAX_TOPICS} topics.`, 'Leave out the others.');
  const byPlace: (string[] | null)[] = [];
  for (const [at, texts] of topics.entries()) {
    const list = toList(texts);
    const wanted =
      at === 0 ? await Promise.all(list.map((text) => getTopics(text, decoder))) : [list.map(toWord)];
    byPlace.push(list.length === 0 ? null : sorted(wanted.flat()));
  }
  return {
    ...(addresses.length > 0 ? { addresses: sorted(addresses) } : {}),
    ...(byPlace.some((texts) => texts !== null) ? { topics: byPlace } : {}),
  };
}

/** Each once, in an order that does not depend on how they are written: a target remembers what its rows match. */
function sorted(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort();
}

function toList(value: string | readonly string[] | null | undefined): readonly string[] {
  return value == null ? [] : typeof value === 'string' ? [value] : value;
}

function toWord(text: string): string {
  const lower = text.toLowerCase();
  if (TOPIC.test(lower)) return lower;
  if (ADDRESS.test(lower)) return `0x${lower.slice(2).padStart(64, '0')}`;
  throw usage(`"${text.slice(0, 80)}" is not a topic.`, 'A topic is 0x and 64 hex digits, or an address.');
}

function usage(message: string, hint: string): PackhouseError {
  return new PackhouseError({ code: 'USAGE', message, hint });
}
