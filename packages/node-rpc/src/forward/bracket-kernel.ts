/*
 * The inner loop of BracketScanner as WebAssembly: it looks at 16 bytes at a time, which JavaScript cannot. It is written
 * down here instruction by instruction (WebAssembly Core 2.0, sections 5.4 and 5.5), since it is one function.
 *
 * For each 64 bytes it makes masks with a bit per byte: quotes that are not escaped, and from them, as every quote flips
 * what follows it, the bytes within strings. What remains is to compare the brackets outside of strings with a stack.
 */

/** Offsets in its memory: the state after a piece (three 32-bit words), the open brackets, and the piece. */
export const [STATE_AT, STACK_AT, PIECE_AT] = [0, 64, 65_536] as const;
/** Bytes that are scanned at a time. */
export const PIECE_BYTES = 65_536;
/** Deeper than any trace: EVM calls nest 1,024 deep, two brackets each. */
const MAX_DEPTH = 10_000;

const PAGES = 3;
const BLOCK = 64;

/** The types of values, and the one of a block without a result. */
const [I32, I64, V128, VOID] = [0x7f, 0x7e, 0x7b, 0x40] as const;

type Code = readonly (number | Code)[];

// Parameters, then locals; `quotes` to `mask` are masks of 64 bits.
const [length, depth, inString, escaped] = [0, 1, 2, 3];
const [at, index, byte] = [4, 5, 6];
const [quotes, slashes, brackets, controls, escapes, within, bit, carried] = [7, 8, 9, 10, 11, 12, 13, 14];
const [v0, v1, v2, v3] = [15, 16, 17, 18];
const VECTORS = [v0, v1, v2, v3] as const;

const get = (local: number): Code => [0x20, local];
const set = (local: number, value: Code): Code => [value, 0x21, local];
const i32 = (value: number): Code => [0x41, signed(BigInt(value))];
const i64 = (value: bigint): Code => [0x42, signed(value)];
const v128 = (code: number, ...operands: Code[]): Code => [operands, 0xfd, unsigned(code)];
const op = (code: number, ...operands: Code[]): Code => [operands, code];
const loop = (body: Code): Code => [0x03, VOID, body, 0x0b];
const when = (condition: Code, body: Code): Code => [condition, 0x04, VOID, body, 0x0b];
/** Goes on with the loop that is so many blocks outside of this one. */
const again = (outside: number, condition: Code): Code => [condition, 0x0d, outside];
const finish = (result: Code): Code => [result, 0x0f];

const [add32, sub32, eq32, ne32, or32, shl32] = [0x6a, 0x6b, 0x46, 0x47, 0x72, 0x74];
const [ltU32, gtU32, wrap, extendS, extendU] = [0x49, 0x4b, 0xa7, 0xac, 0xad];
const [isZero64, ctz64, add64, and64, or64, xor64] = [0x50, 0x7a, 0x7c, 0x83, 0x84, 0x85];
const [shl64, shrS64] = [0x86, 0x87];
const [SPLAT, SAME, LESS, ANDV, ORV, ANY, MASK] = [0x0f, 0x23, 0x26, 0x4e, 0x50, 0x53, 0x64];

const not64 = (value: Code): Code => op(xor64, value, i64(-1n));
const all = (value: number): Code => v128(SPLAT, i32(value));
const orEach = ([first = [], ...others]: readonly Code[]): Code =>
  others.reduce((sum, each) => v128(ORV, sum, each), first);
/** The bit of each of 64 bytes for which `test` holds. */
const maskOf = (test: (vector: Code) => Code): Code => {
  const [a, b, c, d] = VECTORS.map((vector) => v128(MASK, test(get(vector)))) as [Code, Code, Code, Code];
  const half = (low: Code, high: Code): Code => op(extendU, op(or32, low, op(shl32, high, i32(16))));
  return op(or64, half(a, b), op(shl64, half(c, d), i64(32n)));
};
const same =
  (value: number) =>
  (vector: Code): Code =>
    v128(SAME, vector, all(value));
/** Brackets, and some letters that JSON has within strings alone. */
const bracketLike = (vector: Code): Code => v128(SAME, v128(ANDV, vector, all(0xd9)), all(0x59));
const control = (vector: Code): Code => v128(LESS, vector, all(0x20));

const save = (offset: number, value: Code): Code => [i32(STATE_AT), value, 0x36, 2, unsigned(offset)];
const leave = (result: Code): Code => [
  save(0, get(depth)),
  save(4, get(inString)),
  save(8, get(escaped)),
  finish(result),
];
const byteAt = (address: Code, offset: number): Code => [address, 0x2d, 0, unsigned(offset)];

/** Marks what each backslash escapes, the first byte of the next block or piece included. */
const markEscapes: Code = [
  set(slashes, maskOf(same(0x5c))),
  set(controls, maskOf(control)),
  set(escapes, op(extendU, get(escaped))),
  set(carried, op(and64, get(slashes), not64(get(escapes)))),
  set(escaped, i32(0)),
  when(op(0x45, op(isZero64, get(carried))), [
    loop([
      set(bit, op(and64, get(carried), op(0x7d, i64(0n), get(carried)))),
      set(escapes, op(or64, get(escapes), op(shl64, get(bit), i64(1n)))),
      // The last byte of the block or of the piece.
      set(byte, op(add32, op(wrap, op(ctz64, get(bit))), i32(1))),
      when(
        op(or32, op(eq32, get(byte), i32(BLOCK)), op(eq32, op(add32, get(at), get(byte)), get(length))),
        set(escaped, i32(1)),
      ),
      set(carried, op(and64, get(carried), not64(op(or64, get(bit), op(shl64, get(bit), i64(1n)))))),
      again(0, op(0x45, op(isZero64, get(carried)))),
    ]),
  ]),
  set(quotes, op(and64, get(quotes), not64(get(escapes)))),
];

/** All bits from each quote to before the next one. */
const fillStrings: Code = [
  set(within, get(quotes)),
  [1n, 2n, 4n, 8n, 16n, 32n].map((by) =>
    set(within, op(xor64, get(within), op(shl64, get(within), i64(by)))),
  ),
  set(within, op(xor64, get(within), op(extendS, get(inString)))),
  set(inString, op(wrap, op(shrS64, get(within), i64(63n)))),
];

const matchBrackets: Code = [
  set(brackets, op(and64, get(brackets), not64(get(within)))),
  when(op(0x45, op(isZero64, get(brackets))), [
    loop([
      set(index, op(add32, get(at), op(wrap, op(ctz64, get(brackets))))),
      set(byte, byteAt(get(index), PIECE_AT)),
      [op(or32, op(eq32, get(byte), i32(0x7b)), op(eq32, get(byte), i32(0x5b))), 0x04, VOID],
      [
        set(depth, op(add32, get(depth), i32(1))),
        when(op(gtU32, get(depth), i32(MAX_DEPTH)), finish(i32(-1))),
        [get(depth), get(byte), 0x3a, 0, unsigned(STACK_AT)],
      ],
      0x05,
      [
        // `{` and `}`, `[` and `]` are two apart; a letter is apart from both.
        when(op(ne32, byteAt(get(depth), STACK_AT), op(sub32, get(byte), i32(2))), finish(i32(-1))),
        set(depth, op(sub32, get(depth), i32(1))),
        when(op(0x45, get(depth)), leave(op(add32, get(index), i32(1)))),
      ],
      0x0b,
      set(brackets, op(and64, get(brackets), op(add64, get(brackets), i64(-1n)))),
      again(0, op(0x45, op(isZero64, get(brackets)))),
    ]),
  ]),
];

const body: Code = [
  loop([
    VECTORS.map((vector, nth) => set(vector, [get(at), 0xfd, unsigned(0), 0, unsigned(PIECE_AT + nth * 16)])),
    set(quotes, maskOf(same(0x22))),
    set(brackets, maskOf(bracketLike)),
    set(slashes, i64(0n)),
    set(controls, i64(0n)),
    when(
      op(
        or32,
        get(escaped),
        v128(ANY, orEach(VECTORS.map((each) => v128(ORV, same(0x5c)(get(each)), control(get(each)))))),
      ),
      markEscapes,
    ),
    fillStrings,
    // A control character within a string, a backslash outside of one.
    when(
      op(
        0x45,
        op(
          isZero64,
          op(or64, op(and64, get(controls), get(within)), op(and64, get(slashes), not64(get(within)))),
        ),
      ),
      finish(i32(-1)),
    ),
    matchBrackets,
    set(at, op(add32, get(at), i32(BLOCK))),
    again(0, op(ltU32, get(at), get(length))),
  ]),
  leave(get(length)),
];

/** What it exports. */
interface Kernel {
  memory: { readonly buffer: ArrayBuffer };
  /**
   * Scans the piece at PIECE_AT, of `length` bytes and then 64 spaces, in the state that it left at STATE_AT before.
   * Returns the offset behind the last bracket, `length` if that is not there, and -1 if no JSON has these bytes.
   */
  scan(length: number, depth: number, inString: number, escaped: number): number;
}

export function createKernel(): Kernel {
  const locals = [
    [3, I32],
    [8, I64],
    [4, V128],
  ];
  const code = flat([unsigned(locals.length), locals, body, 0x0b]);
  const module = flat([
    [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    section(1, [1, 0x60, 4, I32, I32, I32, I32, 1, I32]),
    section(3, [1, 0]),
    section(5, [1, 0, PAGES]),
    section(7, [2, name('memory'), 2, 0, name('scan'), 0, 0]),
    section(10, [1, unsigned(code.length), code]),
  ]);
  const { Instance, Module } = (globalThis as unknown as { WebAssembly: Assembly }).WebAssembly;
  return new Instance(new Module(Uint8Array.from(module))).exports;
}

/** What is used of WebAssembly, whose types come with those of browsers alone. */
interface Assembly {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { exports: Kernel };
}

function section(id: number, content: Code): Code {
  const bytes = flat(content);
  return [id, unsigned(bytes.length), bytes];
}

function name(text: string): Code {
  return [text.length, [...Buffer.from(text)]];
}

function flat(code: Code): number[] {
  return (code as unknown[]).flat(Number.POSITIVE_INFINITY) as number[];
}

/** LEB128. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

/** Signed LEB128. */
function signed(value: bigint): number[] {
  const low = Number(value & 0x7fn);
  const rest = value >> 7n;
  const isLast = (rest === 0n && low < 0x40) || (rest === -1n && low >= 0x40);
  return isLast ? [low] : [low | 0x80, ...signed(rest)];
}
