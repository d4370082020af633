import { EMPTY_ROOT } from '../encode/trie-root.js';
import { openBlock } from './prove-block.js';
import { disagree, type Tools } from './tools.js';

/** A block with a proved header, whose transactions are known by hash only. */
export interface BareBlock {
  number: number;
  /** `0x` + 64 lower-case hex digits. */
  hash: string;
  /** Bloom of its logs, as canonical DATA; null if the header does not prove it. */
  logsBloom: string | null;
}

/**
 * Proves the hash of a block from its header. Which transactions it has cannot be recomputed from their hashes; only that
 * it has none is checked.
 *
 * @throws RECORD_INVALID, PROOF_FAILED
 */
export function proveBareBlock(tools: Tools, value: unknown): BareBlock {
  const { block } = openBlock(tools, value);
  const { notProved, number, reader, record, rules, unproved } = block;
  for (let index = 0; index < record.transactions.length; index++) {
    reader.bytes(record.transactions[index], 'transactions', 32);
  }
  const hasNone = record.transactions.length === 0;
  const isRooted = !notProved.has('transactionsRoot') && rules.outside === 'none';
  if (isRooted && unproved.header === undefined && hasNone !== (record.transactionsRoot === EMPTY_ROOT)) {
    const expected = hasNone ? 'transactions' : 'no transactions';
    const got = `${record.transactions.length} transactions`;
    disagree(
      block,
      'transactions',
      got,
      expected,
      `the header's transactionsRoot is ${record.transactionsRoot}`,
    );
  }
  const isProved = unproved.header === undefined && unproved.blooms === undefined && rules.outside === 'none';
  return { number, hash: record.hash, logsBloom: isProved ? record.logsBloom : null };
}
