import { isUtf8 } from 'node:buffer';
import type { AbiValue } from './abi-types.js';
import type { AbiType, NamedType } from './parse-type.js';

/** Encoded values as lower-case 0x text. */
export interface Encoded {
  text: string;
  /**
   * Words that may still be read. No encoder writes a word that two values share, so no more than there are: without
   * this bound a few bytes, whose offsets lead to each other, could mean millions of values.
   */
  wordsLeft: number;
}

/**
 * Reads a value whose head begins at a digit of the text; offsets in it are counted from `base`. Returns undefined if
 * what is there is no value of the type.
 */
export type ReadValue = (from: Encoded, at: number, base: number) => AbiValue | undefined;

/** Digits of a word of 32 bytes. */
const WORD = 64;
/** The digits before the first word. */
export const PREFIX = 2;
const ZEROS = '0'.repeat(WORD);
/** Larger lengths and offsets, in bytes, are of no log. */
const LENGTH_DIGITS = 8;
/** Integers up to here are numbers. */
const NUMBER_BITS = 48;

function createReader(type: AbiType): ReadValue {
  switch (type.kind) {
    case 'uint':
      return type.bits > NUMBER_BITS ? uintReader(type.bits) : smallUintReader(type.bits);
    case 'int':
      return intReader(type.bits);
    case 'fixed':
      return fixedReader(type);
    case 'address':
      return readAddress;
    case 'bool':
      return readBool;
    case 'fixedBytes':
      return fixedBytesReader(type.bytes);
    case 'bytes':
      return readBytes;
    case 'string':
      return readString;
    case 'tuple':
      return fieldsReader(type.fields);
    case 'array':
      return arrayReader(type.element, type.length);
  }
}

function fieldsReader(fields: readonly NamedType[]): ReadValue {
  const parts = fields.map(({ name, type }) => ({
    name,
    read: elementReader(type),
    digits: headDigits(type),
  }));
  return (from, at, base) => {
    const values: Record<string, AbiValue> = {};
    let place = at;
    for (const { name, read, digits } of parts) {
      const value = read(from, place, base);
      if (value === undefined) return undefined;
      values[name] = value;
      place += digits;
    }
    return values;
  };
}

/** Whether a value is not within its head: there its offset is. */
function isDynamic(type: AbiType): boolean {
  if (type.kind === 'tuple') return type.fields.some((field) => isDynamic(field.type));
  if (type.kind === 'array') return type.length === null || isDynamic(type.element);
  return type.kind === 'bytes' || type.kind === 'string';
}

/** Digits that a value takes in a list of values. */
export function headDigits(type: AbiType): number {
  if (isDynamic(type)) return WORD;
  if (type.kind === 'tuple') return type.fields.reduce((sum, field) => sum + headDigits(field.type), 0);
  if (type.kind === 'array') return (type.length as number) * headDigits(type.element);
  return WORD;
}

/** Makes the reader of a value in a list of values: it follows the offset, and begins a new base there, if it has one. */
export function elementReader(type: AbiType): ReadValue {
  const read = createReader(type);
  if (!isDynamic(type)) return type.kind === 'tuple' || type.kind === 'array' ? read : counted(read);
  return (from, at, base) => {
    const offset = readLength(from, at);
    if (offset === undefined) return undefined;
    const place = base + offset * 2;
    return read(from, place, place);
  };
}

/** Refuses a word behind the end. */
function counted(read: ReadValue): ReadValue {
  return (from, at, base) => {
    from.wordsLeft -= 1;
    return from.wordsLeft < 0 || at + WORD > from.text.length ? undefined : read(from, at, base);
  };
}

/** A length or an offset, in bytes. */
function readLength(from: Encoded, at: number): number | undefined {
  from.wordsLeft -= 1;
  const zeros = WORD - LENGTH_DIGITS;
  if (from.wordsLeft < 0 || at + WORD > from.text.length || !hasZeros(from, at, zeros)) return undefined;
  return Number.parseInt(from.text.slice(at + zeros, at + WORD), 16);
}

function hasZeros({ text }: Encoded, at: number, digits: number): boolean {
  return text.startsWith(ZEROS.slice(0, digits), at);
}

function smallUintReader(bits: number): ReadValue {
  const zeros = WORD - bits / 4;
  return (from, at) =>
    hasZeros(from, at, zeros) ? Number.parseInt(from.text.slice(at + zeros, at + WORD), 16) : undefined;
}

function uintReader(bits: number): ReadValue {
  const zeros = WORD - bits / 4;
  const half = WORD / 2 + WORD / 4;
  return (from, at) => {
    if (!hasZeros(from, at, zeros)) return undefined;
    // Most are small: a short text is read in a third of the time.
    const begin = hasZeros(from, at, half) ? half : zeros;
    return BigInt(`0x${from.text.slice(at + begin, at + WORD)}`);
  };
}

function intReader(bits: number): ReadValue {
  return ({ text }, at) => {
    const value = BigInt.asIntN(256, BigInt(`0x${text.slice(at, at + WORD)}`));
    if (BigInt.asIntN(bits, value) !== value) return undefined;
    return bits > NUMBER_BITS ? value : Number(value);
  };
}

function fixedReader({ signed, bits, decimals }: Extract<AbiType, { kind: 'fixed' }>): ReadValue {
  const read = signed ? intReader(bits) : uintReader(bits);
  return (from, at, base) => {
    const scaled = read(from, at, base);
    if (scaled === undefined) return undefined;
    const digits = String(scaled)
      .replace('-', '')
      .padStart(decimals + 1, '0');
    return `${String(scaled).startsWith('-') ? '-' : ''}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
  };
}

const ADDRESS_ZEROS = 24;
const readAddress: ReadValue = (from, at) =>
  hasZeros(from, at, ADDRESS_ZEROS) ? `0x${from.text.slice(at + ADDRESS_ZEROS, at + WORD)}` : undefined;

const readBool: ReadValue = (from, at) => {
  if (!hasZeros(from, at, WORD - 1)) return undefined;
  const digit = from.text[at + WORD - 1];
  return digit === '1' ? true : digit === '0' ? false : undefined;
};

function fixedBytesReader(bytes: number): ReadValue {
  return (from, at) =>
    hasZeros(from, at + bytes * 2, WORD - bytes * 2) ? `0x${from.text.slice(at, at + bytes * 2)}` : undefined;
}

/** The bytes may end the data without zeros up to the next word: older compilers wrote them so. */
function dynamicDigits(from: Encoded, at: number): string | undefined {
  const length = readLength(from, at);
  if (length === undefined) return undefined;
  const begin = at + WORD;
  from.wordsLeft -= Math.ceil((length * 2) / WORD);
  if (from.wordsLeft < 0 || begin + length * 2 > from.text.length) return undefined;
  return from.text.slice(begin, begin + length * 2);
}

const readBytes: ReadValue = (from, at) => {
  const digits = dynamicDigits(from, at);
  return digits === undefined ? undefined : `0x${digits}`;
};

const readString: ReadValue = (from, at) => {
  const digits = dynamicDigits(from, at);
  if (digits === undefined) return undefined;
  const bytes = Buffer.from(digits, 'hex');
  return isUtf8(bytes) ? bytes.toString('utf8') : `0x${digits}`;
};

function arrayReader(element: AbiType, length: number | null): ReadValue {
  const read = elementReader(element);
  const digits = headDigits(element);
  const readItems = (from: Encoded, at: number, count: number): AbiValue[] | undefined => {
    if (at + count * digits > from.text.length) return undefined;
    const items: AbiValue[] = [];
    for (let index = 0; index < count; index += 1) {
      // Elements without a head are counted too.
      if (digits === 0 && --from.wordsLeft < 0) return undefined;
      const item = read(from, at + index * digits, at);
      if (item === undefined) return undefined;
      items.push(item);
    }
    return items;
  };
  if (length !== null) return (from, at) => readItems(from, at, length);
  return (from, at) => {
    const count = readLength(from, at);
    return count === undefined ? undefined : readItems(from, at + WORD, count);
  };
}
