import { PackhouseError } from '@packhouse/runtime';
import type { AbiInput, AbiParameter } from './abi-types.js';
import { type AbiEvent, readSignature } from './read-signature.js';

/** Entries of an ABI. */
const MAX_ITEMS = 10_000;

/**
 * Reads the events of an ABI: a JSON array, an object that has one as `abi` (an artifact of Hardhat or Foundry), or
 * lines such as `event Transfer(address indexed from, address indexed to, uint256 value)` and `struct A { bool b; }`; or
 * the text of any of them.
 * Functions, errors and constructors are passed over. Throws ABI_INVALID.
 */
export function readAbi(abi: AbiInput): AbiEvent[] {
  const items = toList(typeof abi === 'string' ? readText(abi) : abi);
  if (items.length > MAX_ITEMS) throw abiInvalid(`it has more than ${MAX_ITEMS} entries`);
  const structs = structsIn(items);
  const events = items.flatMap((item, at) => readItem(item, at, structs));
  if (events.length === 0) throw abiInvalid('it has no event');
  return events;
}

/** The error of an ABI that cannot be used; `what` is a clause about it. */
export function abiInvalid(what: string, cause?: unknown): PackhouseError {
  return new PackhouseError({
    code: 'ABI_INVALID',
    message: `The ABI cannot be read: ${what}.`,
    hint: 'Give a JSON ABI, an artifact of Hardhat or Foundry, or lines such as "event Transfer(address indexed from, address indexed to, uint256 value)".',
    cause,
  });
}

function readText(given: string): unknown {
  // Editors of Windows begin a file with a byte order mark.
  const text = given.replace(/^\ufeff/, '');
  if (!/^\s*[[{]/.test(text)) return toLines(text);
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw abiInvalid(`it is not JSON: ${(cause as Error).message.slice(0, 200)}`, cause);
  }
}

/** The lines without comments; what is in brackets over several lines is one. */
function toLines(text: string): string[] {
  const lines: string[] = [];
  let open = 0;
  for (const line of text.split('\n')) {
    const bare = line.replace(/\/\/[\s\S]*/, '').trim();
    if (bare === '') continue;
    if (open > 0) lines.push(`${lines.pop()} ${bare}`);
    else lines.push(bare);
    open += (bare.match(/[({]/g)?.length ?? 0) - (bare.match(/[)}]/g)?.length ?? 0);
    open = Math.max(0, open);
  }
  return lines;
}

function toList(abi: unknown): readonly unknown[] {
  if (Array.isArray(abi)) return abi;
  if (isObject(abi) && Array.isArray(abi.abi)) return abi.abi;
  throw abiInvalid('it is no array, and no object with an array as "abi"');
}

function readItem(item: unknown, at: number, structs: Structs): AbiEvent[] {
  if (typeof item === 'string') {
    if (!/^\s*event\b/.test(item)) {
      if (/^\s*(function|error|constructor|receive|fallback|struct)\b/.test(item)) return [];
      throw abiInvalid(`"${item.trim().slice(0, 80)}" is no event`);
    }
    try {
      return [readSignature(withoutStructs(item, structs))];
    } catch (error) {
      throw asAbiError(item.trim().slice(0, 80), error);
    }
  }
  if (!isObject(item)) throw abiInvalid(`its entry ${at} is no object`);
  if (item.type !== 'event') return [];
  const { name, inputs, anonymous } = item;
  if (typeof name !== 'string' || !/^[\w$]+$/.test(name)) {
    throw abiInvalid(`the event at entry ${at} has no name`);
  }
  try {
    return [{ name, inputs: readParameters(inputs), anonymous: anonymous === true }];
  } catch (error) {
    throw asAbiError(`event ${name}`, error);
  }
}

/** The fields of structs as tuples, `(uint256 a, bool b)`, by their names. */
type Structs = ReadonlyMap<string, string>;

const STRUCT = /^\s*struct\s+([\w$]+)\s*\{([^}]*)\}\s*;?\s*$/;
/** Characters of a struct, and of an event with its structs; structs in each other. */
const MAX_STRUCT = 4_096;
const MAX_LINE = 16_384;
const MAX_DEPTH = 16;

function structsIn(items: readonly unknown[]): Structs {
  const structs = new Map<string, string>();
  for (const item of items) {
    const [, name, fields = ''] = typeof item === 'string' ? (STRUCT.exec(item) ?? []) : [];
    if (name === undefined) continue;
    if (fields.length > MAX_STRUCT) throw abiInvalid(`struct ${name} has more than ${MAX_STRUCT} characters`);
    structs.set(name, `(${fields.replace(/;\s*$/, '').replaceAll(';', ',')})`);
  }
  return structs;
}

/** The line with tuples in place of structs. Throws a RangeError if they have no end. */
function withoutStructs(line: string, structs: Structs): string {
  let text = line;
  for (let depth = 0; depth <= MAX_DEPTH; depth += 1) {
    const next = text.replace(/[\w$]+/g, (word) => structs.get(word) ?? word);
    if (next === text) return text;
    if (next.length > MAX_LINE) throw new RangeError(`has more than ${MAX_LINE} characters with its structs`);
    text = next;
  }
  throw new RangeError(`nests more than ${MAX_DEPTH} structs`);
}

/** What is wrong with one event, as an error of the ABI; anything else as it is. */
export function asAbiError(where: string, error: unknown): unknown {
  return error instanceof RangeError ? abiInvalid(`${where} ${error.message}`, error) : error;
}

function readParameters(value: unknown): AbiParameter[] {
  if (!Array.isArray(value)) throw new RangeError('has no list of inputs');
  return value.map((each: unknown, at) => {
    if (!isObject(each) || typeof each.type !== 'string') throw new RangeError(`has no type for input ${at}`);
    const { type, name, indexed, components } = each;
    return {
      type,
      name: typeof name === 'string' ? name : '',
      indexed: indexed === true,
      components: components === undefined ? undefined : readParameters(components),
    };
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
