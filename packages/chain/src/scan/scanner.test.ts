import { createScanner } from '@packhouse/kernels';
import { ALL, type Recordings } from '@packhouse/recordings';
import { describe, expect, it } from 'vitest';
import { getTables } from './tables.js';

const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value), 'latin1');

/** What the scanner is asked of a block. */
function read(source: Recordings) {
  const { block, receipts } = source.block('row', 17_686_110);
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
  return { count: block.transactions.length, parts, facts };
}

describe.each(ALL)('the scanner, of $title', (source) => {
  it('goes on after it failed, and after a block that took much memory', () => {
    const { count, parts, facts } = read(source);
    const scanner = createScanner(getTables());
    const expected = scanner.scan(parts, facts);
    expect(expected).toHaveProperty('count', count);
    // A number that cannot be written, as a fault of the kernel would be: by an error.
    expect(scanner.scan(parts, { ...facts, chainId: Number.NaN })).toBe('fault');
    expect(scanner.scan({ transactions: Buffer.alloc(40_000_000, ' ') }, facts)).toBe('size');
    expect(scanner.scan({ transactions: Buffer.alloc(8_000_000, ' ') }, facts)).toBe('transactions');
    const again = scanner.scan(parts, facts);
    if (typeof again === 'string' || typeof expected === 'string') throw new Error(String(again));
    expect(again.receipts?.equals(expected.receipts!)).toBe(true);
  });

  it('writes into no memory but its own, wherever an answer is cut off', () => {
    const { parts, facts } = read(source);
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
