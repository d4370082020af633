import { createScanner } from '@packhouse/kernels';
import { describe, expect, it } from 'vitest';
import { HAS_RECORDINGS, recordedBlock } from '../../test/recorded.js';
import { getTables } from './tables.js';

const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value), 'latin1');

describe.skipIf(!HAS_RECORDINGS)('the scanner (../shared/chain-data)', () => {
  const { block, receipts } = recordedBlock('mainnet-17686110-17686121', 17_686_110);
  const { hash, number, timestamp, baseFeePerGas } = block as unknown as Record<string, string>;
  const parts = { transactions: bytes(block.transactions), receipts: bytes(receipts) };
  const facts = {
    hash: hash!,
    number: number!,
    decimal: '17686110',
    timestamp: timestamp!,
    baseFee: baseFeePerGas,
    chainId: 1,
    checks: 31,
  };

  it('goes on after it failed, and after a block that took much memory', () => {
    const scanner = createScanner(getTables());
    const expected = scanner.scan(parts, facts);
    expect(expected).toHaveProperty('count', block.transactions.length);
    // A number that cannot be written, as a fault of the kernel would be: by an error.
    expect(scanner.scan(parts, { ...facts, chainId: Number.NaN })).toBe('fault');
    expect(scanner.scan({ transactions: Buffer.alloc(40_000_000, ' ') }, facts)).toBe('size');
    expect(scanner.scan({ transactions: Buffer.alloc(8_000_000, ' ') }, facts)).toBe('transactions');
    const again = scanner.scan(parts, facts);
    if (typeof again === 'string' || typeof expected === 'string') throw new Error(String(again));
    expect(again.receipts?.equals(expected.receipts!)).toBe(true);
  });

  it('writes into no memory but its own, wherever an answer is cut off', () => {
    const scanner = createScanner(getTables());
    const { transactions } = parts;
    for (let length = 0; length < transactions.length; length += 997) {
      expect(scanner.scan({ ...parts, transactions: transactions.subarray(0, length) }, facts)).toBe(
        'transactions',
      );
    }
    for (let length = 0; length < parts.receipts.length; length += 9_973) {
      expect(scanner.scan({ ...parts, receipts: parts.receipts.subarray(0, length) }, facts)).toBe(
        'receipts',
      );
    }
  });
});
