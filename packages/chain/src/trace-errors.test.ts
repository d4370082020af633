import { ALL } from '@packhouse/recordings';
import { describe, expect, it } from 'vitest';
import { POLICY } from '../test/recorded.js';
import { canonicalRecord } from './canonical-record.js';
import { createProver } from './create-prover.js';
import { hasNormalErrors, normalizeTraceError, TRACE_ERROR_WORDINGS } from './record/trace-errors.js';

type Json = Record<string, unknown>;

const address = (digit: string) => `0x${digit.repeat(40)}`;
const hash = (digit: string) => `0x${digit.repeat(64)}`;
const PLACE = {
  blockHash: hash('b'),
  blockNumber: 9,
  subtraces: 0,
  traceAddress: [],
  transactionHash: hash('1'),
  transactionPosition: 0,
};
const CALL = {
  callType: 'call',
  from: address('1'),
  to: address('2'),
  gas: '0x9',
  value: '0x0',
  input: '0x',
};
const CREATION = { from: address('1'), gas: '0x9', value: '0x0', init: '0xfe' };

/** A failed call or creation as it is written. */
function written(failure: Json, options: { published?: boolean; action?: Json } = {}): Json {
  const { action = CALL, ...rest } = options;
  const trace = { action, ...PLACE, type: 'init' in action ? 'create' : 'call', ...failure };
  const [text] = JSON.parse(canonicalRecord('traces', [trace], rest)) as [Json];
  return text;
}

const WORDS = TRACE_ERROR_WORDINGS.flatMap(({ client, words, beginnings = {} }) => [
  ...Object.entries(words).map(([word, name]) => ({ client, word, name })),
  ...Object.entries(beginnings).map(([word, name]) => ({ client, word: `${word} (7 <=> 8)`, name })),
]);

describe('the error of a trace', () => {
  it.each(WORDS)('$word of $client is $name', ({ word, name }) => {
    expect(normalizeTraceError(word, undefined)).toBe(name);
    expect(written({ error: word }).error).toBe(name);
    expect(normalizeTraceError(name, undefined)).toBe(name);
  });

  it('means the same, whichever client says it', () => {
    const names = new Map<string, string>();
    for (const { word, name } of WORDS) expect(names.get(word) ?? name).toBe(name);
  });

  it('that nobody knows stays, but what a built-in contract says of its input is its failure', () => {
    expect(written({ error: 'something new' }).error).toBe('something new');
    const action = { ...CALL, to: `0x${'06'.padStart(40, '0')}` };
    expect(written({ error: 'bn256: malformed point' }, { action }).error).toBe('Built-in failed');
    expect(written({ error: 'out of gas' }, { action }).error).toBe('Out of gas');
  });

  it('that is not a text stays for what it is', () => {
    expect(written({ error: 7 }).error).toBe(7);
  });
});

describe('the result of what failed', () => {
  const RESULTS = [undefined, null, {}, { gasUsed: '0x9' }, { gasUsed: '0x9', output: '0x' }];

  it.each(RESULTS.map((result) => ({ result })))('is none: $result', ({ result }) => {
    for (const error of ['Out of gas', 'out of gas', 'something new']) {
      expect(written({ error, result })).not.toHaveProperty('result');
    }
  });

  it('must have its form all the same', () => {
    expect(() => written({ error: 'Out of gas', result: { gasUsed: 9 } })).toThrow('result.gasUsed');
  });

  it.each(['Reverted', 'execution reverted'])('is what it returned, if it says %s', (error) => {
    const result = { gasUsed: '0x9', output: '0xaa' };
    expect(written({ error, result })).toMatchObject({ error: 'Reverted', result });
  });

  it.each([
    ['geth, flatCallTracer', { gasUsed: '0x9', code: '0xaa' }],
    ['reth and Anvil', { gasUsed: '0x9', code: '0xaa', address: address('c') }],
    ['erigon 3', { gasUsed: '0x9', output: '0xaa' }],
  ])('of a reverted creation is the same in all words: %s', (_, result) => {
    const trace = written({ error: 'Reverted', result }, { action: CREATION });
    expect(trace.result).toEqual({ gasUsed: '0x9', output: '0xaa' });
  });
});

it('failures of a bundle stay as they were written', () => {
  for (const failure of [
    { error: 'out of gas', result: null },
    { error: 'execution reverted', result: { gasUsed: '0x9', code: '0xaa', address: address('c') } },
  ]) {
    expect(written(failure, { published: true })).toMatchObject(failure);
  }
});

it('is looked for in the text, whatever else is in it', () => {
  const text = (error: string) => Buffer.from(`[{"action":{},"error":${JSON.stringify(error)}}]`);
  expect(hasNormalErrors(text('Reverted'))).toBe(true);
  expect(hasNormalErrors(Buffer.from('[]'))).toBe(true);
  for (const error of ['', 'reverted', 'a","error":"Reverted', 'Reverted"'])
    expect(hasNormalErrors(text(error))).toBe(false);
});

it.each(ALL)('a scanned block has the same words: $title', async (source) => {
  const prover = await createProver({ ...POLICY, chainId: 1 });
  const bytes = (value: unknown) => Buffer.from(JSON.stringify(value), 'latin1');
  const block = source.blocks('forks').find(({ traces, receipts }) => traces?.length && receipts?.length);
  if (block === undefined) throw new Error('no block has receipts and traces');
  const { transactions, ...header } = block.block;
  const proved = prover.proveBlock({ block: block.block, receipts: block.receipts });
  let accepted = 0;
  for (const { word, name } of [...WORDS, { word: 'something new', name: 'something new' }]) {
    for (const result of [{}, { result: null }, { result: { gasUsed: '0x1', output: '0xaa' } }]) {
      const traces = structuredClone(block.traces) as Json[];
      const at = traces.findLastIndex(({ traceAddress }) => (traceAddress as unknown[]).length > 0);
      const { result: _, ...trace } = traces[at] as Json;
      traces[at] = { ...trace, ...result, error: word };
      const expected = prover.proveTraces(proved, traces);
      expect((JSON.parse(expected) as Json[])[at]?.error).toBe(name);
      const scanned = prover.proveRaw({
        header: { ...header, transactions: [] },
        transactions: bytes(transactions),
        receipts: bytes(block.receipts),
        traces: bytes(traces),
      });
      if (typeof scanned === 'string') expect(scanned).toBe('traces');
      else {
        accepted++;
        expect(scanned.texts.traces?.equals(Buffer.from(expected, 'latin1'))).toBe(true);
      }
    }
  }
  expect(accepted).toBe(6);
});
