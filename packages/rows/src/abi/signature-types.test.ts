import { expectTypeOf, it } from 'vitest';
import type { DecodedLog, Hex } from './abi-types.js';

type Of<Line extends string> = DecodedLog<readonly [Line]>;

it('lines of an ABI type the arguments of their events', () => {
  expectTypeOf<
    Of<'event Transfer(address indexed from, address indexed to, uint256 value)'>
  >().toEqualTypeOf<{
    event: 'Transfer';
    args: { from: Hex; to: Hex; value: bigint };
  }>();
  expectTypeOf<
    Of<'event A(uint8, bool[2] flags, string indexed text, (uint a, bytes32 b)[] list) anonymous;'>
  >().toEqualTypeOf<{
    event: 'A';
    args: { arg0: number; flags: boolean[]; text: Hex; list: { a: bigint; b: Hex }[] };
  }>();
  expectTypeOf<Of<'event Empty()'>['event']>().toEqualTypeOf<'Empty'>();
});

it('structs are tuples, and other lines are no events', () => {
  type Abi = readonly [
    'struct Point { uint32 x; int64 y; }',
    'function f(uint256 a) view returns (bool)',
    'event Moved(address indexed who, Point to)',
  ];
  expectTypeOf<DecodedLog<Abi>>().toEqualTypeOf<{
    event: 'Moved';
    args: { who: Hex; to: { x: number; y: bigint } };
  }>();
});

it('a text that is not known when it is compiled has any event', () => {
  expectTypeOf<DecodedLog<readonly string[]>['event']>().toEqualTypeOf<string>();
});
