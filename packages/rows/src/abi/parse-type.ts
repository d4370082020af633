import type { AbiParameter } from './abi-types.js';

/* Types of the contract ABI: https://docs.soliditylang.org/en/latest/abi-spec.html#types */

/** A type of the ABI. */
export type AbiType =
  | { kind: 'uint' | 'int'; bits: number }
  | { kind: 'fixed'; signed: boolean; bits: number; decimals: number }
  | { kind: 'address' | 'bool' | 'bytes' | 'string' }
  /** `name` as in signatures: a `function` is an address and a selector. */
  | { kind: 'fixedBytes'; bytes: number; name: string }
  | { kind: 'tuple'; fields: readonly NamedType[] }
  /** `length` null: dynamic. */
  | { kind: 'array'; element: AbiType; length: number | null };

export interface NamedType {
  /** Unique among its siblings, and never empty. */
  name: string;
  type: AbiType;
}

/** Arrays and tuples in each other. */
const MAX_DEPTH = 16;
/** Parameters of one list. */
const MAX_PARAMETERS = 256;

const INTEGER = /^(u?)int([1-9]\d{0,2})?$/;
const FIXED = /^(u?)fixed(?:(\d{1,3})x(\d{1,2}))?$/;
const BYTES = /^bytes([1-9]\d?)$/;
const ARRAY = /^(.*)\[(\d{0,9})\]$/s;

/** Reads the type of a parameter. Throws a RangeError, whose message says what is wrong with it. */
function parseType({ type, components }: AbiParameter, depth = 0): AbiType {
  if (depth > MAX_DEPTH) throw new RangeError(`nests more than ${MAX_DEPTH} types`);
  const [, element, length] = ARRAY.exec(type) ?? [];
  if (element !== undefined) {
    return {
      kind: 'array',
      element: parseType({ type: element, components }, depth + 1),
      length: length === '' ? null : Number(length),
    };
  }
  if (type === 'tuple') {
    if (components === undefined) throw new RangeError('is a tuple without components');
    return { kind: 'tuple', fields: nameAll(components, depth + 1) };
  }
  return parseElementary(type);
}

/** Reads the types of a list of parameters, named by position if a name is missing or not usable. Throws as `parseType`. */
export function nameAll(parameters: readonly AbiParameter[], depth = 0): NamedType[] {
  if (parameters.length > MAX_PARAMETERS) throw new RangeError(`has more than ${MAX_PARAMETERS} parameters`);
  const names = new Set<string>();
  return parameters.map((parameter, at) => {
    const own = parameter.name ?? '';
    let name = own === '' || own === '__proto__' ? `arg${at}` : own;
    while (names.has(name)) name = `${name}_${at}`;
    names.add(name);
    return { name, type: parseType(parameter, depth) };
  });
}

function parseElementary(type: string): AbiType {
  if (type === 'address' || type === 'bool' || type === 'bytes' || type === 'string') return { kind: type };
  if (type === 'function') return { kind: 'fixedBytes', bytes: 24, name: type };
  const integer = INTEGER.exec(type);
  if (integer !== null) {
    const bits = Number(integer[2] ?? 256);
    if (isWidth(bits)) return { kind: integer[1] === 'u' ? 'uint' : 'int', bits };
  }
  const fixed = FIXED.exec(type);
  if (fixed !== null) {
    const [bits, decimals] = [Number(fixed[2] ?? 128), Number(fixed[3] ?? 18)];
    if (isWidth(bits) && decimals >= 1 && decimals <= 80) {
      return { kind: 'fixed', signed: fixed[1] !== 'u', bits, decimals };
    }
  }
  const bytes = Number(BYTES.exec(type)?.[1] ?? 0);
  if (bytes >= 1 && bytes <= 32) return { kind: 'fixedBytes', bytes, name: type };
  throw new RangeError(`has the type "${type.slice(0, 60)}", which the ABI does not have`);
}

function isWidth(bits: number): boolean {
  return bits >= 8 && bits <= 256 && bits % 8 === 0;
}

/** The type as it is written in signatures: `(uint256,address)[2]`. */
export function typeText(type: AbiType): string {
  switch (type.kind) {
    case 'uint':
    case 'int':
      return `${type.kind}${type.bits}`;
    case 'fixed':
      return `${type.signed ? '' : 'u'}fixed${type.bits}x${type.decimals}`;
    case 'fixedBytes':
      return type.name;
    case 'tuple':
      return `(${type.fields.map((field) => typeText(field.type)).join(',')})`;
    case 'array':
      return `${typeText(type.element)}[${type.length ?? ''}]`;
    default:
      return type.kind;
  }
}
