import { createKeccak256 } from '@packhouse/chain';
import type { AbiInput, AbiValue, DecodedLog } from './abi-types.js';
import { type Encoded, elementReader, headDigits, PREFIX, type ReadValue } from './decode-value.js';
import { type AbiType, type NamedType, nameAll, typeText } from './parse-type.js';
import { abiInvalid, asAbiError, readAbi } from './read-abi.js';
import type { AbiEvent } from './read-signature.js';

/** An event of a compiled ABI. */
export interface CompiledEvent {
  name: string;
  /** `Transfer(address,address,uint256)` */
  signature: string;
  /** The hash of the signature, which is the first topic of its logs; null: the event is anonymous. */
  topic0: string | null;
  inputs: readonly EventInput[];
}

export interface EventInput extends NamedType {
  indexed: boolean;
}

/** Decodes logs by an ABI. */
export interface Decoder<Abi extends AbiInput = AbiInput> {
  /** Each once, in the order of the ABI. */
  readonly events: readonly CompiledEvent[];
  /**
   * Decodes a log; null if it fits none of the events, or several that read it differently. A value with bits that its
   * type does not have (an address of more than 20 bytes, a bool of 2) does not fit.
   */
  decode(topics: readonly string[], data: string): DecodedLog<Abi> | null;
  /** The same, with the event itself. */
  find(topics: readonly string[], data: string): FoundEvent | null;
}

interface FoundEvent {
  event: CompiledEvent;
  args: Record<string, AbiValue>;
}

/** An event with the reader of its logs. */
interface EventReader {
  event: CompiledEvent;
  topics: number;
  read(topics: readonly string[], data: Encoded): Record<string, AbiValue> | undefined;
}

const TOPIC = /^0x[0-9a-f]{64}$/;
const DATA = /^0x(?:[0-9a-f]{2})*$/;
const DIGITS_OF_WORD = 64;
const MAX_INDEXED = 4;

/**
 * Makes the decoder of an ABI's events. Events of one name, and of one signature with other indexed parameters, stand
 * beside each other. An anonymous event is taken only if the first topic is of no event of the ABI and the data ends
 * with its values. Throws ABI_INVALID.
 */
export async function compileAbi<const Abi extends AbiInput>(abi: Abi): Promise<Decoder<Abi>> {
  const keccak = await createKeccak256();
  const readers = new Map<string, EventReader>();
  for (const item of readAbi(abi)) {
    const reader = compileEvent(item, (text) => keccak.hash(Buffer.from(text)));
    const shape = `${reader.event.topic0 ?? 'anonymous'} ${reader.event.inputs.map((input) => `${typeText(input.type)} ${input.indexed}`)}`;
    if (!readers.has(shape)) readers.set(shape, reader);
  }
  const byTopic = new Map<string | null, EventReader[]>();
  for (const reader of readers.values()) {
    const { topic0 } = reader.event;
    byTopic.set(topic0, [...(byTopic.get(topic0) ?? []), reader]);
  }
  const anonymous = byTopic.get(null) ?? [];
  const findInHex = (topics: readonly string[], data: string): FoundEvent | null => {
    const first = topics[0];
    const named = first === undefined ? undefined : byTopic.get(first);
    let found: FoundEvent | null = null;
    for (const reader of named ?? anonymous) {
      if (reader.topics !== topics.length) continue;
      const encoded = { text: data, wordsLeft: Math.ceil((data.length - PREFIX) / DIGITS_OF_WORD) };
      const args = reader.read(topics, encoded);
      if (args === undefined || (named === undefined && encoded.wordsLeft > 0)) continue;
      if (found !== null) return null;
      found = { event: reader.event, args };
    }
    return found;
  };
  const find = (topics: readonly string[], data: string): FoundEvent | null => {
    if (DATA.test(data) && topics.every((topic) => TOPIC.test(topic))) return findInHex(topics, data);
    const lower = { data: data.toLowerCase(), topics: topics.map((topic) => topic.toLowerCase()) };
    if (!DATA.test(lower.data) || !lower.topics.every((topic) => TOPIC.test(topic))) return null;
    return findInHex(lower.topics, lower.data);
  };
  return {
    events: [...readers.values()].map(({ event }) => event),
    find,
    decode(topics, data) {
      const found = find(topics, data);
      return found === null ? null : ({ event: found.event.name, args: found.args } as DecodedLog<Abi>);
    },
  };
}

function compileEvent(
  { name, inputs, anonymous }: AbiEvent,
  hash: (text: string) => Uint8Array,
): EventReader {
  let types: NamedType[];
  try {
    types = nameAll(inputs);
  } catch (error) {
    throw asAbiError(`event ${name}`, error);
  }
  const all = types.map((type, at) => ({ ...type, indexed: inputs[at]?.indexed === true }));
  const indexed = all.filter((input) => input.indexed);
  const room = anonymous ? MAX_INDEXED : MAX_INDEXED - 1;
  if (indexed.length > room) {
    throw abiInvalid(`event ${name} has ${indexed.length} indexed inputs, at most ${room} are possible`);
  }
  const signature = `${name}(${types.map(({ type }) => typeText(type)).join(',')})`;
  const topic0 = anonymous ? null : `0x${Buffer.from(hash(signature)).toString('hex')}`;
  return {
    event: { name, signature, topic0, inputs: all },
    topics: indexed.length + (anonymous ? 0 : 1),
    read: eventReader(all, anonymous ? 0 : 1),
  };
}

/** Reads the indexed inputs from the topics, all others from the data, into one object in the order of the ABI. */
function eventReader(inputs: readonly EventInput[], firstTopic: number): EventReader['read'] {
  let topic = firstTopic;
  let place = PREFIX;
  const steps = inputs.map(({ name, type, indexed }) => {
    if (indexed) return { name, read: topicReader(type), topic: topic++, place: PREFIX };
    const step = { name, read: elementReader(type), topic: -1, place };
    place += headDigits(type);
    return step;
  });
  return (topics, data) => {
    const args: Record<string, AbiValue> = {};
    for (const step of steps) {
      const from = step.topic < 0 ? data : { text: topics[step.topic] as string, wordsLeft: 1 };
      const value = step.read(from, step.place, PREFIX);
      if (value === undefined) return undefined;
      args[step.name] = value;
    }
    return args;
  };
}

function topicReader(type: AbiType): ReadValue {
  return isHashed(type) ? ({ text }) => text : elementReader(type);
}

/** Whether an indexed value of the type is in its topic as a hash, because it does not fit into it. */
export function isHashed({ kind }: AbiType): boolean {
  return kind === 'string' || kind === 'bytes' || kind === 'array' || kind === 'tuple';
}
