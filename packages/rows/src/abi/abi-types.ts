/* The TypeScript types of an ABI's events: what a decoder returns for an ABI that is written `as const`. */

import type { EventOf } from './signature-types.js';

export type Hex = `0x${string}`;

/** A parameter as JSON ABIs have it. */
export interface AbiParameter {
  readonly type: string;
  readonly name?: string | undefined;
  readonly indexed?: boolean | undefined;
  readonly components?: readonly AbiParameter[] | undefined;
}

/** An entry of a JSON ABI; all but events are passed over. */
interface AbiItem {
  readonly type: string;
  readonly name?: string | undefined;
  readonly inputs?: readonly AbiParameter[] | undefined;
  readonly anonymous?: boolean | undefined;
}

/** A JSON ABI, an object that has one as `abi` (Hardhat, Foundry), lines as `event A(uint256 b)`, or the text of any. */
export type AbiInput =
  | string
  | readonly (AbiItem | string)[]
  | { readonly abi: readonly (AbiItem | string)[] };

/**
 * A decoded value. Integers of at most 48 bits are numbers, larger ones bigints; addresses and bytes are lower-case 0x
 * text, and so is a string that is not UTF-8; `fixed` is exact decimal text. A tuple is an object by its names.
 */
export type AbiValue = string | number | bigint | boolean | AbiValue[] | { [name: string]: AbiValue };

/** A log that an ABI describes. */
export type DecodedLog<Abi extends AbiInput = AbiInput> = Abi extends { readonly abi: infer Inner }
  ? OfItems<Inner>
  : OfItems<Abi>;

interface AnyLog {
  event: string;
  args: Record<string, AbiValue>;
}

type OfItems<Items> = Items extends readonly (infer Item)[] ? OfItem<Item, Item> : AnyLog;

/** `All` are the items of the ABI, of which some may be structs. */
type OfItem<Item, All> = Item extends string
  ? OfLine<Item, All>
  : Item extends { readonly type: infer Type }
    ? string extends Type
      ? AnyLog
      : Item extends {
            readonly type: 'event';
            readonly name: infer Name extends string;
            readonly inputs: infer Inputs extends readonly AbiParameter[];
          }
        ? { event: Name; args: Named<Inputs, 'event'> }
        : never
    : AnyLog;

type OfLine<Line extends string, All> = string extends Line
  ? AnyLog
  : [EventOf<Line, All>] extends [never]
    ? never
    : EventOf<Line, All> extends { name: infer Name extends string; inputs: infer Inputs }
      ? Inputs extends readonly AbiParameter[]
        ? { event: Name; args: Named<Inputs, 'event'> }
        : AnyLog
      : AnyLog;

/** An object of the parameters by their names; those without are `arg0`, `arg1` …, by position. */
type Named<Parameters extends readonly AbiParameter[], Place> = number extends Parameters['length']
  ? Record<string, AbiValue>
  : {
      [At in Extract<keyof Parameters, `${number}`> as Key<Parameters[At], At>]: Place extends 'event'
        ? ArgOf<Parameters[At]>
        : ValueOf<Parameters[At], Parameters[At]['type']>;
    };

type Key<Parameter extends AbiParameter, At extends string> = Parameter extends { readonly name: infer Name }
  ? Name extends ''
    ? `arg${At}`
    : Name & string
  : `arg${At}`;

/** The topic of an indexed parameter that does not fit into one is a hash of it. */
type ArgOf<Parameter extends AbiParameter> = Parameter['indexed'] extends true
  ? Parameter['type'] extends `${string}]` | 'string' | 'bytes' | 'tuple'
    ? Hex
    : ValueOf<Parameter, Parameter['type']>
  : ValueOf<Parameter, Parameter['type']>;

type ValueOf<Parameter extends AbiParameter, Type extends string> = string extends Type
  ? AbiValue
  : Type extends `${string}]`
    ? ValueOf<Parameter, Element<Type>>[]
    : Type extends 'tuple'
      ? Parameter extends { readonly components: infer Fields extends readonly AbiParameter[] }
        ? Named<Fields, 'tuple'>
        : Record<string, AbiValue>
      : Type extends 'bool'
        ? boolean
        : Type extends 'string' | `${'u' | ''}fixed${string}`
          ? string
          : Type extends `${'u' | ''}int${infer Bits}`
            ? Bits extends '8' | '16' | '24' | '32' | '40' | '48'
              ? number
              : bigint
            : Type extends 'address' | 'function' | `bytes${string}`
              ? Hex
              : AbiValue;

/** `T` of `T[]` and `T[3]`: without the last pair of brackets. */
type Element<Type extends string, Before extends string = ''> = Type extends `${infer Head}[${infer Rest}`
  ? Rest extends `${string}[${string}`
    ? Element<Rest, `${Before}${Head}[`>
    : `${Before}${Head}`
  : never;
