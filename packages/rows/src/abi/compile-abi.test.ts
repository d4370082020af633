import { describe, expect, expectTypeOf, it } from 'vitest';
import type { AbiInput, AbiValue, Hex } from './abi-types.js';
import { compileAbi } from './compile-abi.js';

const word = (value: bigint | number): string =>
  BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0');
const topic = (value: bigint | number): string => `0x${word(value)}`;
const address = `0x${'ab'.repeat(20)}`;
const hash = `0x${'cd'.repeat(32)}`;
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const ERC20 = 'event Transfer(address indexed from, address indexed to, uint256 value)';
const ERC721 = 'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)';

/** What an event of one input, which is not indexed, reads from these words. */
async function read(type: string, ...words: (string | number | bigint)[]): Promise<AbiValue | undefined> {
  const decoder = await compileAbi([`event E(${type} x)`]);
  const data = words.map((each) => (typeof each === 'string' ? each : word(each))).join('');
  const decoded = decoder.decode([decoder.events[0]?.topic0 as string], `0x${data}`);
  return decoded?.args.x;
}

describe('events', () => {
  it('of one signature are told apart by the number of topics', async () => {
    const { decode, events } = await compileAbi([ERC20, ERC721]);
    expect(events.map(({ topic0 }) => topic0)).toEqual([TRANSFER, TRANSFER]);
    const [from, to] = [topic(1), topic(BigInt(address))];
    expect(decode([TRANSFER, from, to], topic(5))).toEqual({
      event: 'Transfer',
      args: { from: `0x${'0'.repeat(39)}1`, to: address, value: 5n },
    });
    expect(decode([TRANSFER, from, to, topic(7)], '0x')?.args).toMatchObject({ tokenId: 7n });
    expect(decode([TRANSFER, from], `${topic(5)}${word(5)}`)).toBeNull();
    expect(decode([TRANSFER, from, to], '0x')).toBeNull();
  });

  it('that read one log differently leave it without arguments', async () => {
    const { decode } = await compileAbi([
      'event E(uint256 indexed a, uint256 b)',
      'event E(uint256 a, uint256 indexed b)',
    ]);
    const { events } = await compileAbi(['event E(uint256 a, uint256 b)']);
    expect(decode([events[0]?.topic0 as string, topic(1)], topic(2))).toBeNull();
  });

  it('that are anonymous are taken if no other event has the topic, and the data is just theirs', async () => {
    const { decode, events } = await compileAbi([
      ERC20,
      'event Note(bytes4 indexed sig, address indexed who, bytes data) anonymous',
    ]);
    expect(events[1]?.topic0).toBeNull();
    const sig = `0x12345678${'0'.repeat(56)}`;
    const data = `${topic(0x20)}${word(3)}${'010203'.padEnd(64, '0')}`;
    expect(decode([sig, topic(9)], data)).toMatchObject({
      event: 'Note',
      args: { sig: '0x12345678', data: '0x010203' },
    });
    expect(decode([hash, topic(9)], data)).toBeNull();
    expect(decode([sig, topic(9)], `${data}${word(0)}`)).toBeNull();
    expect(decode([TRANSFER, topic(9)], data)).toBeNull();
    expect(decode([], data)).toBeNull();
  });

  it('keep the hash of an indexed value that does not fit into a topic', async () => {
    const { decode, events } = await compileAbi([
      'event E(string indexed a, uint8[2] indexed b, (bool c) indexed d)',
    ]);
    expect(decode([events[0]?.topic0 as string, hash, hash, hash], '0x')?.args).toEqual({
      a: hash,
      b: hash,
      d: hash,
    });
  });

  it('have arguments without a name by their position', async () => {
    const { decode, events } = await compileAbi(['event E(uint8, uint8 __proto__, (bool, bool) pair)']);
    const decoded = decode([events[0]?.topic0 as string], `0x${[1, 2, 1, 0].map(word).join('')}`);
    expect(decoded?.args).toEqual({ arg0: 1, arg1: 2, pair: { arg0: true, arg1: false } });
  });

  it('are found whatever the case of the hex', async () => {
    const { decode } = await compileAbi([ERC20]);
    const shout = (text: string): string => `0x${text.slice(2).toUpperCase()}`;
    const topics = [TRANSFER, topic(1), topic(BigInt(address))];
    expect(decode(topics.map(shout), topic(255).toUpperCase().replace('X', 'x'))?.args.to).toBe(address);
    expect(decode(topics, '0xzz')).toBeNull();
    expect(decode(topics, topic(1).slice(0, -1))).toBeNull();
    expect(decode([...topics.slice(0, 2), '0x1'], topic(1))).toBeNull();
  });
});

describe('values', () => {
  it.each<[string, (string | number | bigint)[], AbiValue]>([
    ['uint48', [5], 5],
    ['uint56', [5], 5n],
    ['int48', [-5], -5],
    ['int256', [-5], -5n],
    ['uint', [2n ** 256n - 1n], 2n ** 256n - 1n],
    ['bool', [1], true],
    ['bytes4', [`12345678${'0'.repeat(56)}`], '0x12345678'],
    ['function', [`${'12'.repeat(24)}${'0'.repeat(16)}`], `0x${'12'.repeat(24)}`],
    ['fixed128x18', [-1_500_000_000_000_000_000n], '-1.500000000000000000'],
    ['ufixed8x1', [5], '0.5'],
    ['string', [0x20, 3, 'e282ac'.padEnd(64, '0')], '€'],
    ['string', [0x20, 2, 'c3ff'.padEnd(64, '0')], '0xc3ff'],
    ['bytes', [0x20, 3, 'e282ac'], '0xe282ac'],
    [
      'uint8[2][]',
      [0x20, 2, 1, 2, 3, 4],
      [
        [1, 2],
        [3, 4],
      ],
    ],
    ['string[1]', [0x20, 0x20, 1, '61'.padEnd(64, '0')], ['a']],
    ['(uint8 a, (string b)[] c)', [0x20, 7, 0x40, 1, 0x20, 0x20, 1, '62'], { a: 7, c: [{ b: 'b' }] }],
    ['uint8[0]', [], []],
  ])('%s is read from %s', async (type, words, value) => {
    expect(await read(type, ...words)).toEqual(value);
  });

  it.each<[string, (string | number | bigint)[]]>([
    ['uint8', [256]],
    ['int8', [128]],
    ['address', [2n ** 160n]],
    ['bool', [2]],
    ['bytes4', [1]],
    ['uint256', []],
    ['uint256', ['00'.repeat(31)]],
    ['bytes', [0x20, 33, 0]],
    ['bytes', [2n ** 255n]],
    ['uint8[]', [0x20, 2, 1]],
    ['uint8[]', [0x20, 2n ** 32n - 1n]],
    ['uint8[4294967]', [1]],
    ['string', [0x40]],
  ])('%s has no value of %s', async (type, words) => {
    expect(await read(type, ...words)).toBeUndefined();
  });

  it('that share words are refused, because a few bytes could mean millions of values', async () => {
    // Ten heads of each level lead to the same list of the next one.
    const level = [10, ...Array.from({ length: 10 }, () => 320)];
    const words = [0x20, ...level, ...level, ...level, ...level, ...level, ...level, 0];
    expect(await read('uint8[][][][][][][]', ...words)).toBeUndefined();
    expect(await read('(uint8[0] a)[]', 0x20, 2n ** 32n - 1n)).toBeUndefined();
  });
});

describe('an ABI', () => {
  const item = { type: 'event', name: 'E', inputs: [{ type: 'uint8', name: 'a', indexed: true }] };
  it.each<[string, AbiInput]>([
    ['an array', [{ type: 'function', name: 'f' }, item]],
    ['an artifact', { abi: [item] }],
    ['JSON', JSON.stringify({ abi: [item] })],
    ['JSON of an editor of Windows', `\ufeff${JSON.stringify([item])}`],
    ['an event over several lines', 'event E( // as in Solidity\r\n  uint8 indexed a // one\r\n);\r\n'],
    ['lines', '// all events\nfunction f()\n\nevent E(uint8 indexed a);\n'],
  ])('is read from %s', async (_, abi) => {
    const { events } = await compileAbi(abi);
    expect(events.map(({ signature }) => signature)).toEqual(['E(uint8)']);
    expect(events[0]?.inputs[0]).toMatchObject({ name: 'a', indexed: true });
  });

  it('may have structs, which are tuples', async () => {
    const { events } = await compileAbi([
      'struct Outer { Inner[2] inners; address owner; }',
      'event E(Outer[] indexed outers, uint256 a)',
      'struct Inner { bool ok }',
    ]);
    expect(events.map(({ signature }) => signature)).toEqual(['E(((bool)[2],address)[],uint256)']);
  });

  const five = Array.from({ length: 4 }, () => ({ type: 'bool', indexed: true }));
  it.each<[AbiInput, RegExp]>([
    ['[{]', /it is not JSON/],
    ['{}', /no array, and no object with an array as "abi"/],
    ['[]', /it has no event/],
    ['[1]', /its entry 0 is no object/],
    ['hello', /"hello" is no event/],
    ['event E(uint7 a)', /has the type "uint7", which the ABI does not have/],
    ['event E(uint256 a', /has an end where "," is expected/],
    ['event E(uint256 a b)', /has "b" where "," or "\)" is expected/],
    ['event E() twice', /has "twice" where the end is expected/],
    [`event E(uint8${'[]'.repeat(17)} a)`, /nests more than 16 types/],
    [`event E(${'('.repeat(18)}`, /nests more than 16 types/],
    [[{ type: 'event', name: 'E', inputs: five }], /event E has 4 indexed inputs, at most 3/],
    [[{ type: 'event', name: 'E' }], /event E has no list of inputs/],
    [['struct A { A a; }', 'event E(A a)'], /nests more than 16 structs/],
    [['struct A { A a; A b; }', 'event E(A a)'], /has more than 16384 characters with its structs/],
    [[`struct A { bool ${'a'.repeat(5_000)}; }`, 'event E(A a)'], /struct A has more than 4096 characters/],
    [['struct A { bool a', 'event E(A a)'], /has the type "A", which the ABI does not have/],
    [[{ type: 'event' }], /the event at entry 0 has no name/],
    [[{ type: 'event', name: 'E', inputs: [{ type: 'tuple' }] }], /is a tuple without components/],
  ])('such as %s is refused', async (abi, sentence) => {
    await expect(compileAbi(abi)).rejects.toMatchObject({
      code: 'ABI_INVALID',
      message: expect.stringMatching(sentence),
    });
  });

  it('written as const types the arguments', async () => {
    const { decode } = await compileAbi([
      {
        type: 'event',
        name: 'E',
        inputs: [
          { name: 'who', type: 'address', indexed: true },
          { name: 'text', type: 'string', indexed: true },
          { name: 'at', type: 'uint48' },
          { name: '', type: 'int256[2][]' },
          {
            name: 'pair',
            type: 'tuple',
            components: [
              { name: 'ok', type: 'bool' },
              { name: 'raw', type: 'bytes4' },
            ],
          },
        ],
      },
      { type: 'event', name: 'F', inputs: [] },
      { type: 'function', name: 'g', inputs: [] },
    ] as const);
    type Decoded = NonNullable<ReturnType<typeof decode>>;
    expectTypeOf<Decoded['event']>().toEqualTypeOf<'E' | 'F'>();
    type Args = Extract<Decoded, { event: 'E' }>['args'];
    expectTypeOf<Args>().toEqualTypeOf<{
      who: Hex;
      text: Hex;
      at: number;
      arg3: bigint[][];
      pair: { ok: boolean; raw: Hex };
    }>();
    const lines = await compileAbi([ERC20]);
    expectTypeOf<NonNullable<ReturnType<typeof lines.decode>>['args']>().toEqualTypeOf<{
      from: Hex;
      to: Hex;
      value: bigint;
    }>();
  });
});
