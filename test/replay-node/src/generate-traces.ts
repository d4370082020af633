import { type GeneratedTransaction, HASH_TO_COME } from './generate-transaction.js';
import { toQuantity } from './hex.js';
import type { Random } from './random.js';
import type { RpcTrace } from './recorded-block.js';
import { randomArguments, type SyntheticWorld } from './synthetic-world.js';

/** Generates the call tree of one transaction, in trace_block's order (a caller before those that it calls). */
export function generateTraces(
  random: Random,
  world: SyntheticWorld,
  generated: GeneratedTransaction,
  number: number,
  meanTraces: number,
): RpcTrace[] {
  const { transaction, kind, fails, gasUsed, contractAddress } = generated;
  const common = {
    blockHash: HASH_TO_COME,
    blockNumber: number,
    transactionHash: transaction.hash,
    transactionPosition: Number(transaction.transactionIndex),
  };
  if (kind === 'creation') {
    const { from, gas, input, value } = transaction;
    const code = `0x60806040${String(input).slice(12, 2000)}`;
    const result = { address: contractAddress, code, gasUsed: toQuantity(gasUsed) };
    return [
      {
        action: { from, gas, init: input, value },
        ...common,
        result,
        subtraces: 0,
        traceAddress: [],
        type: 'create',
      },
    ];
  }
  const traces: RpcTrace[] = [];
  let left = kind === 'transfer' ? 0 : random.geometric(meanTraces);
  const visit = (action: Record<string, unknown>, traceAddress: number[], gasUsed: number): void => {
    const trace: RpcTrace = {
      action,
      ...common,
      ...(fails && traceAddress.length === 0
        ? { error: 'Reverted' }
        : { result: { gasUsed: toQuantity(gasUsed), output: output(random, world, action) } }),
      subtraces: 0,
      traceAddress,
      type: 'call',
    };
    traces.push(trace);
    while (left > 0 && traceAddress.length < 10 && random.chance(traceAddress.length === 0 ? 1 : 0.55)) {
      left--;
      visit(subcall(random, world, action, gasUsed), [...traceAddress, trace.subtraces++], gasUsed >> 1);
    }
  };
  const { from, gas, input, to, value } = transaction;
  visit({ from, callType: 'call', gas, input, to, value }, [], gasUsed);
  return traces;
}

function subcall(
  random: Random,
  world: SyntheticWorld,
  parent: Record<string, unknown>,
  gasUsed: number,
): Record<string, unknown> {
  const gas = toQuantity(gasUsed + random.int(50_000));
  const draw = random.int(100);
  // A proxy hands on what it was given.
  if (draw < 16) {
    const { to: from, input, value } = parent;
    return { from, callType: 'delegatecall', gas, input, to: random.zipf(world.contracts).address, value };
  }
  const callType = draw < 48 ? 'staticcall' : 'call';
  const contract = random.zipf(world.contracts);
  const words = random.chance(0.93) ? random.int(4) : random.geometric(60);
  const input =
    random.chance(0.1) && callType === 'call'
      ? '0x'
      : `0x${random.pick(contract.selectors)}${randomArguments(random, world, words, words < 10 ? 0.05 : 0.3)}`;
  const value = callType === 'call' && random.chance(0.15) ? `0x1${random.hex(7)}` : '0x0';
  return { from: parent.to, callType, gas, input, to: contract.address, value };
}

function output(random: Random, world: SyntheticWorld, { input }: Record<string, unknown>): string {
  if (input === '0x') return '0x';
  const draw = random.int(100);
  if (draw < 25) return '0x';
  if (draw < 60) return `0x${'1'.padStart(64, '0')}`;
  return `0x${randomArguments(random, world, 1 + random.int(2))}`;
}
