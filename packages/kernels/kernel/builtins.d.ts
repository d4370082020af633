/* The builtins of AssemblyScript that are used here, for editors and `tsc`. Its own types are part of the compiler. */

declare type bool = boolean;
declare type u8 = number;
declare type i8 = number;
declare type u16 = number;
declare type u32 = number;
declare type i32 = number;
declare type u64 = number;
declare type i64 = number;
declare type f64 = number;
declare type usize = number;

declare interface v128 {
  readonly lanes: unique symbol;
}

declare function load<T>(at: usize, offset?: usize): T;
declare function store<T>(at: usize, value: T, offset?: usize): void;
declare function min<T>(a: T, b: T): T;
declare function clz<T = number>(value: T): T;
declare function ctz<T = number>(value: T): T;
declare function popcnt<T = number>(value: T): T;
declare function rotl<T>(value: T, bits: T): T;
declare function bswap<T>(value: T): T;
declare function unreachable(): never;
declare const __heap_base: usize;

declare namespace u64 {
  const MAX_VALUE: u64;
}

declare namespace memory {
  function data(bytes: usize, align?: usize): usize;
  function data<T>(values: T[], align?: usize): usize;
  function copy(to: usize, from: usize, bytes: usize): void;
  function fill(at: usize, value: u8, bytes: usize): void;
  function grow(pages: i32): i32;
  function size(): i32;
}

declare namespace v128 {
  function load(at: usize, offset?: usize): v128;
  function store(at: usize, value: v128, offset?: usize): void;
  function and(a: v128, b: v128): v128;
  function or(a: v128, b: v128): v128;
  function xor(a: v128, b: v128): v128;
  function bitselect(a: v128, b: v128, mask: v128): v128;
  function any_true(a: v128): bool;
  function shuffle<T>(a: v128, b: v128, ...lanes: T[]): v128;
}

declare namespace i8x16 {
  function splat(value: number): v128;
  function add(a: v128, b: v128): v128;
  function sub(a: v128, b: v128): v128;
  function eq(a: v128, b: v128): v128;
  function lt_u(a: v128, b: v128): v128;
  function min_u(a: v128, b: v128): v128;
  function narrow_i16x8_u(a: v128, b: v128): v128;
  function shuffle(a: v128, b: v128, ...lanes: u8[]): v128;
  function all_true(a: v128): bool;
  function bitmask(a: v128): i32;
}

declare namespace i16x8 {
  function splat(value: number): v128;
  function shl(a: v128, bits: i32): v128;
  function shr_u(a: v128, bits: i32): v128;
}

declare namespace i32x4 {
  function splat(value: number): v128;
  function add(a: v128, b: v128): v128;
  function shl(a: v128, bits: i32): v128;
  function shr_u(a: v128, bits: i32): v128;
}

declare namespace i64x2 {
  function splat(value: number): v128;
  function extract_lane(a: v128, lane: u8): u64;
}
