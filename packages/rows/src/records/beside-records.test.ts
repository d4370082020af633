import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { toSchema } from './read-columns.js';
import { type RowSource, readRows } from './read-rows.js';
import type { Column } from './schema.js';

type Json = Record<string, unknown>;

function toBundle(texts: readonly string[]): Buffer {
  return gzipSync(`[${texts.join(',')}]`);
}

type Source = Omit<RowSource, 'path' | 'bytes' | 'chainId'> & { bytes: Uint8Array; chainId?: number };

async function getRows(source: Source): Promise<Record<string, Column[number]>[]> {
  const rows: Record<string, Column[number]>[] = [];
  for await (const { rows: count, columns } of readRows({ chainId: 1, ...source })) {
    for (let row = 0; row < count; row += 1) {
      rows.push(
        Object.fromEntries(
          Object.entries(columns).map(([name, column]) => [name, column[row] as Column[number]]),
        ),
      );
    }
  }
  return rows;
}

describe('what is not in the records', () => {
  const hash = (n: number): string => `0x${String(n).repeat(64)}`;
  const account = `0x${'2'.repeat(40)}`;
  const tx = (n: number): Json => ({
    blockHash: hash(9),
    blockNumber: '0x5',
    from: account,
    gas: '0x5208',
    hash: hash(n),
    input: '0x00ff00',
    nonce: '0x0',
    to: account,
    transactionIndex: `0x${n}`,
    value: `0x${'f'.repeat(64)}`,
    chainId: '0x1',
  });
  const source = {
    kind: 'transactions' as const,
    fileFrom: 4,
    bytes: toBundle(['[]', JSON.stringify([tx(0), tx(1)])]),
  };
  const receipts = async (block: number) =>
    block === 5
      ? Buffer.from(
          JSON.stringify(
            [0, 1].map((n) => ({
              transactionHash: hash(n),
              status: `0x${n}`,
              gasUsed: '0x5208',
              effectiveGasPrice: '0x7',
            })),
          ),
        )
      : null;

  it('comes from the manifest, the filter and the receipts', async () => {
    const rows = await getRows({ ...source, times: async () => [100, 112], receipts });
    expect(
      rows.map(({ block_timestamp, chain_id, status, gas_used, effective_gas_price, extra }) => {
        return { block_timestamp, chain_id, status, gas_used, effective_gas_price, extra };
      }),
    ).toEqual(
      [0, 1].map((status) => ({
        block_timestamp: 112,
        chain_id: 1,
        status,
        gas_used: 21_000,
        effective_gas_price: 7n,
        extra: JSON.stringify({ value: tx(0).value }),
      })),
    );
    expect(rows[0]).toMatchObject({
      value: null,
      value_double: 2 ** 256,
      value_text: (2n ** 256n - 1n).toString(),
    });
  });

  it('is null where nobody tells it, and another chain id than that of the network is kept', async () => {
    const [row] = await getRows({ ...source, chainId: 5 });
    expect(row).toMatchObject({ block_timestamp: null, chain_id: 5, status: null, gas_used: null });
    expect(JSON.parse(row?.extra as string)).toMatchObject({ chainId: '0x1' });
  });

  it('has the names and values of cryo and ethereum-etl', async () => {
    const [, cryo] = await getRows({
      ...source,
      receipts,
      schema: toSchema('transactions', { peer: 'cryo', bytes: true }),
    });
    expect(cryo).toEqual({
      block_number: 5,
      transaction_index: 1,
      transaction_hash: hash(1),
      nonce: 0,
      from_address: account,
      to_address: account,
      value_binary: `0x${'f'.repeat(64)}`,
      value_string: (2n ** 256n - 1n).toString(),
      value_f64: 2 ** 256,
      input: '0x00ff00',
      gas_limit: 21_000,
      gas_used: 21_000,
      gas_price: null,
      transaction_type: null,
      max_priority_fee_per_gas: null,
      max_fee_per_gas: null,
      success: true,
      n_input_bytes: 3,
      n_input_zero_bytes: 2,
      n_input_nonzero_bytes: 1,
      chain_id: 1,
    });
    const schema = toSchema('transactions', { peer: 'ethereum-etl', text: true });
    const [etl] = await getRows({ ...source, times: async () => [100, 112], schema });
    expect(etl).toMatchObject({
      hash: hash(0),
      block_timestamp: 112,
      value: (2n ** 256n - 1n).toString(),
      gas: 21_000,
    });
    expect(() => toSchema('receipts', { peer: 'cryo' })).toThrow('cryo has no table of receipts');
  });

  it('leaves failed calls out of the traces of cryo, and gives ethereum-etl their status', async () => {
    const trace = (traceAddress: number[], error?: string): Json => ({
      blockNumber: '0x5',
      blockHash: hash(9),
      transactionHash: hash(1),
      transactionPosition: 1,
      traceAddress,
      subtraces: 0,
      type: 'call',
      action: { from: account, to: account, callType: 'delegatecall', gas: '0x1', input: '0x', value: '0x0' },
      ...(error && { error }),
    });
    const bytes = toBundle([
      JSON.stringify([
        trace([]),
        trace([0], 'Reverted'),
        trace([0, 0]),
        trace([1]),
        trace([], 'Reverted'),
        trace([0]),
      ]),
    ]);
    const of = (peer: 'cryo' | 'ethereum-etl') =>
      getRows({ kind: 'traces', fileFrom: 5, bytes, schema: toSchema('traces', { peer }) });
    expect((await of('cryo')).map((row) => [row.trace_address, row.action_call_type])).toEqual([
      ['', 'delegate_call'],
      ['1', 'delegate_call'],
    ]);
    expect((await of('ethereum-etl')).map((row) => row.status)).toEqual([1, 0, 0, 1, 0, 0]);
    expect((await of('ethereum-etl'))[2]?.trace_id).toBe(`call_${hash(1)}_0_0`);
  });
});
