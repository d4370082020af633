import { ALL } from '@packhouse/recordings';
import fc from 'fast-check';
import {
  type AbiEvent,
  type AbiParameter,
  decodeEventLog,
  encodeAbiParameters,
  encodeEventTopics,
  erc20Abi,
  type Hex,
  parseAbi,
} from 'viem';
import { expect, expectTypeOf, it } from 'vitest';
import type { AbiValue } from './abi-types.js';
import { compileAbi } from './compile-abi.js';

/* The decoder against that of viem, an independent one. */

/** A type with a value as viem takes it, and as the decoder returns it. */
interface Sample {
  type: Omit<AbiParameter, 'name'>;
  value: unknown;
  decoded: AbiValue;
}

const toHex = (min: number, max = min): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: min, maxLength: max }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
const sample = (type: string, value: AbiValue): Sample => ({ type: { type }, value, decoded: value });
const bits = fc.integer({ min: 1, max: 32 }).map((bytes) => bytes * 8);
const integer = (width: number, value: bigint): AbiValue => (width <= 48 ? Number(value) : value);

const elementary: fc.Arbitrary<Sample> = fc.oneof(
  bits.chain((width) =>
    fc.bigInt(0n, 2n ** BigInt(width) - 1n).map((value) => sample(`uint${width}`, integer(width, value))),
  ),
  bits.chain((width) =>
    fc
      .bigInt(-(2n ** BigInt(width - 1)), 2n ** BigInt(width - 1) - 1n)
      .map((value) => sample(`int${width}`, integer(width, value))),
  ),
  toHex(20).map((value) => sample('address', value)),
  fc.boolean().map((value) => sample('bool', value)),
  fc.integer({ min: 1, max: 32 }).chain((n) => toHex(n).map((value) => sample(`bytes${n}`, value))),
  toHex(0, 70).map((value) => sample('bytes', value)),
  fc.string({ unit: 'binary', maxLength: 40 }).map((value) => sample('string', value)),
);

const { any } = fc.letrec<{ any: Sample; array: Sample; tuple: Sample }>((tie) => ({
  any: fc.oneof({ maxDepth: 3, depthSize: 'small' }, elementary, tie('array'), tie('tuple')),
  // All elements have the type of one sample: its value is repeated.
  array: fc
    .tuple(tie('any'), fc.integer({ min: 1, max: 3 }), fc.boolean(), fc.integer({ min: 0, max: 3 }))
    .map(([each, fixed, dynamic, count]) => {
      const length = dynamic ? count : fixed;
      return {
        type: { ...each.type, type: `${each.type.type}[${dynamic ? '' : fixed}]` },
        value: Array.from({ length }, () => each.value),
        decoded: Array.from({ length }, () => each.decoded),
      };
    }),
  tuple: fc.array(tie('any'), { minLength: 1, maxLength: 4 }).map((fields) => {
    const components = fields.map((field, at) => ({ ...field.type, name: `f${at}` }));
    const named = (of: 'value' | 'decoded') =>
      Object.fromEntries(fields.map((field, at) => [`f${at}`, field[of]]));
    return {
      type: { type: 'tuple', components },
      value: named('value'),
      decoded: named('decoded') as AbiValue,
    };
  }),
}));

/** An event of these inputs with a log of it. */
function toLog(samples: readonly (Sample & { indexed: boolean })[]) {
  const inputs = samples.map(({ type, indexed }, at) => ({ ...type, name: `a${at}`, indexed }));
  const event = { type: 'event', name: 'E', inputs } as AbiEvent;
  const values = Object.fromEntries(
    samples.flatMap(({ value, indexed }, at) => (indexed ? [[`a${at}`, value]] : [])),
  );
  const topics = encodeEventTopics({ abi: [event], eventName: 'E', args: values }) as Hex[];
  const data = samples.filter(({ indexed }) => !indexed);
  return {
    event,
    topics,
    data: encodeAbiParameters(
      data.map(({ type }) => type as AbiParameter),
      data.map(({ value }) => value),
    ),
  };
}

/** Up to three of the inputs are indexed: only those that fit into a topic, of the others viem cannot hash all. */
const inputs = fc.array(fc.tuple(any, fc.boolean()), { maxLength: 5 }).map((list) =>
  list.map(([each, wish], at) => ({
    ...each,
    indexed: wish && at < 3 && !/\]$|^tuple|^string$|^bytes$/.test(each.type.type),
  })),
);

it('decodes what viem encoded', async () => {
  await fc.assert(
    fc.asyncProperty(inputs, async (samples) => {
      const { event, topics, data } = toLog(samples);
      const { decode } = await compileAbi([event]);
      const args = Object.fromEntries(samples.map(({ decoded }, at) => [`a${at}`, decoded]));
      expect(decode(topics, data)).toEqual({ event: 'E', args });
    }),
    { numRuns: 200 },
  );
});

it('decodes damaged data as viem does, or not at all', async () => {
  const damaged = fc.tuple(inputs, fc.nat(), toHex(1, 32), fc.integer({ min: -40, max: 40 }));
  await fc.assert(
    fc.asyncProperty(damaged, async ([samples, at, bytes, longer]) => {
      const { event, topics, data } = toLog(samples);
      const digits = data.slice(2);
      const place = 2 * (at % (digits.length / 2 + 1));
      const changed = `${digits.slice(0, place)}${bytes.slice(2)}${digits.slice(place + bytes.length - 2)}`;
      const text = `0x${longer < 0 ? changed.slice(0, longer * 2) : changed}` as Hex;
      const { decode } = await compileAbi([event]);
      const decoded = decode(topics, text);
      if (decoded === null) return;
      const { args } = decodeEventLog({
        abi: [event],
        topics: topics as [Hex, ...Hex[]],
        data: text,
        strict: true,
      });
      const theirs = plain(args ?? {});
      // Bytes that are not UTF-8 stay bytes here, and are replaced there.
      if (JSON.stringify(theirs, textOfBigint).includes('\ufffd')) return;
      expect(plain(decoded.args)).toEqual(theirs);
    }),
    { numRuns: 200 },
  );
});

it.each(ALL)('decodes logs of $title as viem does', async (source) => {
  const abi = parseAbi([
    'event Transfer(address indexed from, address indexed to, uint256 value)',
    'event Approval(address indexed owner, address indexed spender, uint256 value)',
    'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)',
    'event Sync(uint112 reserve0, uint112 reserve1)',
    'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
  ]);
  const { decode } = await compileAbi(abi);
  let [decoded, all] = [0, 0];
  for (const { receipts = [] } of source.blocks('row').slice(0, 3)) {
    const logs = receipts.flatMap((receipt) => receipt.logs) as { topics: [Hex, ...Hex[]]; data: Hex }[];
    for (const { topics, data } of logs) {
      all += 1;
      const own = decode(topics, data);
      try {
        const { eventName, args } = decodeEventLog({ abi, topics, data, strict: true });
        expect(own?.event).toBe(eventName);
        expect(plain(own?.args)).toEqual(plain(args));
        decoded += 1;
      } catch (error) {
        expect((error as Error).name).toMatch(/^AbiEventSignature|^DecodeLog/);
        expect(own).toBeNull();
      }
    }
  }
  expect(decoded).toBeGreaterThan(all / 2);
});

it('types arguments by what parseAbi returns, and by ABIs that viem has', async () => {
  const lines = await compileAbi(parseAbi(['event Set(uint8 a, address indexed b)', 'event Done()']));
  type Log = NonNullable<ReturnType<typeof lines.decode>>;
  expectTypeOf<Log['event']>().toEqualTypeOf<'Set' | 'Done'>();
  expectTypeOf<Extract<Log, { event: 'Set' }>['args']>().toEqualTypeOf<{ a: number; b: Hex }>();
  const token = await compileAbi(erc20Abi);
  expectTypeOf<NonNullable<ReturnType<typeof token.decode>>['event']>().toEqualTypeOf<
    'Transfer' | 'Approval'
  >();
});

function textOfBigint(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

/** With addresses in lower case, which viem writes with a checksum. */
function plain(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith('0x') ? value.toLowerCase() : value;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}
