import { ALL, type Json } from '@packhouse/recordings';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { thrown } from '../test/tamper.js';
import { canonicalRecord } from './canonical-record.js';
import { KINDS, type Kind } from './record/kinds.js';

const hash = (digit: string) => `0x${digit.repeat(64)}`;
const address = (digit: string) => `0x${digit.repeat(40)}`;

const transaction = (more: Json = {}): Json => ({
  hash: hash('a'),
  blockHash: hash('b'),
  blockNumber: '0x1',
  transactionIndex: '0x0',
  type: '0x0',
  from: address('1'),
  to: address('2'),
  gas: '0x5208',
  gasPrice: '0x1',
  input: '0x',
  nonce: '0x0',
  value: '0x0',
  v: '0x1b',
  r: hash('c'),
  s: hash('d'),
  ...more,
});

const trace = (more: Json = {}): Json => ({
  type: 'call',
  action: { callType: 'call', from: address('1'), to: address('2'), gas: '0x1', value: '0x0', input: '0x' },
  result: { gasUsed: '0x1', output: '0x' },
  blockHash: hash('b'),
  blockNumber: 1,
  subtraces: 0,
  traceAddress: [],
  transactionHash: hash('a'),
  transactionPosition: 0,
  ...more,
});

const one = (record: Json, options = {}) => canonicalRecord('transactions', [record], options).slice(1, -1);

describe('canonical JSON', () => {
  it('has the named fields in the order of the format, then the others by name', () => {
    const text = one(
      transaction({ zeta: 1, alpha: { b: [true, null], a: 'x' }, yParity: '0x0', chainId: '0x1' }),
    );
    expect(text).toBe(
      `{"blockHash":"${hash('b')}","blockNumber":"0x1","from":"${address('1')}","gas":"0x5208","gasPrice":"0x1",` +
        `"hash":"${hash('a')}","input":"0x","nonce":"0x0","to":"${address('2')}","transactionIndex":"0x0",` +
        `"value":"0x0","v":"0x1b","r":"${hash('c')}","s":"${hash('d')}","type":"0x0","chainId":"0x1",` +
        '"alpha":{"a":"x","b":[true,null]},"yParity":"0x0","zeta":1}',
    );
  });

  it('does not depend on the order in which a node writes', () => {
    const entries = Object.entries(transaction({ zeta: 1, alpha: 2, accessList: [] }));
    fc.assert(
      fc.property(fc.shuffledSubarray(entries, { minLength: entries.length }), (shuffled) => {
        expect(one(Object.fromEntries(shuffled))).toBe(one(Object.fromEntries(entries)));
      }),
    );
  });

  it('writes hex in lower case, numbers without leading zeros, r and s in 32 bytes', () => {
    const said = transaction({
      value: '0x00AB',
      gas: '0x000',
      to: `0x${'Ab'.repeat(20)}`,
      r: '0xF',
      input: '0x00AA',
    });
    const meant = {
      value: '0xab',
      gas: '0x0',
      to: `0x${'ab'.repeat(20)}`,
      r: `0x${'f'.padStart(64, '0')}`,
      input: '0x00aa',
    };
    expect(JSON.parse(one(said))).toMatchObject(meant);
    expect(one(said)).toBe(one(transaction(meant)));
  });

  it('keeps what it does not know, nulls too, unless it is told to drop it', () => {
    const said = transaction({ condition: null, raw: '0xABCD', chainId: null, yParity: '0x1', sealed: 'No' });
    expect(JSON.parse(one(said))).toMatchObject({
      condition: null,
      raw: '0xabcd',
      chainId: null,
      sealed: 'No',
    });
    expect(JSON.parse(one(said, { extraFields: 'drop' }))).toEqual(transaction());
  });

  it('keeps under `drop` what protocols define beyond the named fields', () => {
    const typed = {
      type: '0x4',
      chainId: '0x1',
      accessList: [{ address: address('3'), storageKeys: [hash('1')] }],
      authorizationList: [
        { address: address('4'), chainId: '0x1', nonce: '0x0', r: '0x1', s: '0x2', yParity: '0x0' },
      ],
      maxFeePerGas: '0x1',
      maxPriorityFeePerGas: '0x1',
      blobVersionedHashes: [hash('9')],
      maxFeePerBlobGas: '0x1',
      yParity: '0x0',
    };
    const text = one(transaction({ ...typed, blockTimestamp: '0x5', creates: null }), {
      extraFields: 'drop',
    });
    expect(JSON.parse(text)).toEqual(transaction(typed));
  });

  it('is ASCII, whatever a node says', () => {
    const said = transaction({ clé: 'ünï ✓ 𝒳 \u0000 "\\', more: ['é'] });
    const text = one(said);
    expect(text).toMatch(/^[\x20-\x7e]*$/);
    expect(JSON.parse(text)).toEqual(said);
    expect(canonicalRecord('traces', [trace({ error: 'Révoqué "x"' })])).toContain(
      '"error":"R\\u00e9voqu\\u00e9 \\"x\\""',
    );
  });

  it.each([
    ['"__proto__":{"polluted":1}', '__proto__ as an object'],
    ['"__proto__":"y"', '__proto__ as a string'],
    ['"constructor":{"prototype":{"polluted":1}}', 'constructor'],
    ['"more":{"__proto__":{"polluted":1}}', '__proto__ inside of a member'],
    ['"more":[{"constructor":1}]', 'constructor inside of a list'],
    ['"half\\ud800":1', 'half a character in a name'],
    ['"more":"\\udc00"', 'half a character in a value'],
    ['"more":["\\ud83d"]', 'half a character in a list'],
    ['"more":{"\\ud83d":1}', 'half a character in a name inside of a member'],
  ])('leaves out %s (%s), and touches no prototype', (member) => {
    const add = (record: Json): Json => JSON.parse(JSON.stringify(record).replace('{', `{${member},`));
    const said = add(transaction({ extra: '0xAB' }));
    expect(one(said)).toBe(one(transaction({ extra: '0xAB' })));
    expect(canonicalRecord('traces', [add(trace())])).toBe(canonicalRecord('traces', [trace()]));
    const inside = (entry: Json) => transaction({ accessList: [entry] });
    const entry = { address: address('3'), storageKeys: [] };
    expect(one(inside(add(entry)))).toBe(one(inside(entry)));
    expect({}).not.toHaveProperty('polluted');
    expect(Object.getPrototypeOf(said)).toBe(Object.prototype);
  });

  it('keeps whole characters beyond 16 bits, and names that only resemble those of prototypes', () => {
    const said = transaction({ '😀': '😀', prototype: 1, toString: 'x', proto: [{}] });
    expect(JSON.parse(one(said))).toEqual(said);
  });

  it.each<[string, Json, string]>([
    ['a required field is missing', { from: undefined }, 'from'],
    ['null stands where the format allows none', { from: null }, 'from'],
    ['a quantity is no hex', { value: '0xg1' }, 'value'],
    ['a quantity is empty', { value: '0x' }, 'value'],
    ['a quantity has more than 256 bits', { value: `0x1${'0'.repeat(64)}` }, 'value'],
    ['a quantity is a number', { value: 5 }, 'value'],
    ['data has half a byte', { input: '0xabc' }, 'input'],
    ['data has a quote in it', { input: `0x${'00'.repeat(40)}"}` }, 'input'],
    ['data has a letter of another script', { input: `0x${'00'.repeat(40)}аа` }, 'input'],
    ['data of fixed length is short', { to: '0x12' }, 'to'],
    ['the type is no quantity', { type: '0xzz' }, 'type'],
    ['a field is an object', { hash: {} }, 'hash'],
    ['an access list is no array', { accessList: {} }, 'accessList'],
    [
      'a storage key is short',
      { accessList: [{ address: address('1'), storageKeys: ['0x1'] }] },
      'accessList.storageKeys',
    ],
    [
      'a blob transaction has no blob fee',
      { type: '0x3', chainId: '0x1', maxFeePerGas: '0x1', maxPriorityFeePerGas: '0x1' },
      'maxFeePerBlobGas',
    ],
    ['an unknown field is infinite', { odd: Number.POSITIVE_INFINITY }, 'odd'],
    ['an unknown field has a hole', { odd: new Array(2) }, 'odd'],
  ])('refuses a record by name where %s', (_, change, field) => {
    const error = thrown(() => canonicalRecord('transactions', [transaction(), transaction(change)]));
    expect(error).toMatchObject({
      code: 'RECORD_INVALID',
      data: { record: 'transaction 1', field },
    });
  });

  it('names block, record and field in one sentence', () => {
    const number = '0x10dde5e';
    const error = thrown(() => canonicalRecord('blocks', { number, hash: '0x12' }));
    expect(error).toMatchObject({
      message: 'Block 17686110: hash: expected DATA of 32 bytes, got "0x12".',
      data: { block: 17686110, record: 'block', field: 'hash', got: '"0x12"' },
    });
    expect(thrown(() => canonicalRecord('blocks', null))).toMatchObject({
      message: 'A block of unknown number: the block: expected an object, got null.',
      data: { block: null },
    });
  });

  it('refuses nesting that is too deep, however deep it is', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 64; level++) deep = [deep];
    expect(() => one(transaction({ deep }))).not.toThrow();
    expect(thrown(() => one(transaction({ deep: [deep] })))).toMatchObject({ code: 'RECORD_INVALID' });
    const abyss = JSON.parse(`${'{"a":['.repeat(100_000)}${']}'.repeat(100_000)}`);
    expect(thrown(() => one(transaction({ abyss })))).toMatchObject({ code: 'RECORD_INVALID' });
  });

  it('of a canonical text is that text', () => {
    const extra = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 5 }), { maxKeys: 5 });
    fc.assert(
      fc.property(
        extra,
        extra,
        fc.constantFrom('keep' as const, 'drop' as const),
        (more, inner, extraFields) => {
          for (const [kind, record] of [
            [
              'transactions',
              {
                ...more,
                ...transaction({ accessList: [{ ...inner, address: address('5'), storageKeys: [] }] }),
              },
            ],
            ['traces', { ...more, ...trace({ error: more }) }],
          ] as const) {
            const text = canonicalRecord(kind, [record], { extraFields });
            expect(canonicalRecord(kind, JSON.parse(text), { extraFields })).toBe(text);
          }
        },
      ),
    );
  });

  it.each(ALL)('of a text of $title is that text', (source) => {
    for (const name of (['row', 'forks', 'optimism'] as const).filter(source.has)) {
      for (const { block, receipts = [], traces = [] } of source.blocks(name)) {
        const logs = receipts.flatMap((receipt) => receipt.logs);
        const values: Record<Kind, unknown> = {
          blocks: block,
          transactions: block.transactions,
          receipts,
          logs,
          traces,
        };
        for (const extraFields of ['keep', 'drop'] as const) {
          for (const kind of KINDS) {
            const text = canonicalRecord(kind, values[kind], { extraFields });
            expect(canonicalRecord(kind, JSON.parse(text), { extraFields }) === text).toBe(true);
          }
        }
      }
    }
  });
});
