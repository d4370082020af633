import type { FaultRule } from '@packhouse/replay-node';
import type { Lie } from '../schedule/action.js';

const BLOCK = 'eth_getBlockByNumber';
const RECEIPTS = 'eth_getBlockReceipts';
const TRACES = 'trace_block';

const rule = (method: string, path: readonly (string | number)[], value: unknown): FaultRule => ({
  do: 'tamper',
  when: { method },
  path,
  value,
});

/** Changes that a header's hash, a root, or the agreement of trace and transaction gives away. */
const RULES: Readonly<Record<Lie, FaultRule>> = {
  gasUsed: rule(BLOCK, ['gasUsed'], '0x5208'),
  stateRoot: rule(BLOCK, ['stateRoot'], `0x${'ab'.repeat(32)}`),
  transactionValue: rule(BLOCK, ['transactions', 0, 'value'], '0x1234567'),
  transactionInput: rule(BLOCK, ['transactions', 0, 'input'], '0xdeadbeef'),
  receiptStatus: rule(RECEIPTS, [0, 'status'], (was: unknown) => (was === '0x1' ? '0x0' : '0x1')),
  cumulativeGas: rule(RECEIPTS, [0, 'cumulativeGasUsed'], '0x1'),
  logData: rule(RECEIPTS, [0, 'logs', 0, 'data'], `0x${'cd'.repeat(32)}`),
  logAddress: rule(RECEIPTS, [0, 'logs', 0, 'address'], `0x${'ef'.repeat(20)}`),
  traceTo: rule(TRACES, [0, 'action', 'to'], `0x${'12'.repeat(20)}`),
};

/** The rule by which a node tells a lie, to everybody, until it is cleared. */
export function lieRule(lie: Lie): FaultRule {
  return RULES[lie];
}
