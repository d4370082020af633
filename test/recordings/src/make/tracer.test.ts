import { type Anvil, callNode, startAnvil } from '@packhouse/local';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Recorded, RecordedTrace } from '../recordings.js';
import { createCalls, nested, script } from './calls.js';
import { INNER, LOGGING, SCRIPTED, TOKENS } from './contracts.js';
import { createDice } from './made-values.js';
import { makeBlock } from './make-block.js';
import { toMix } from './mix.js';
import { toRecorded } from './to-json.js';
import { createWorld } from './world.js';

const AT = { number: 17_686_110, timestamp: 1_689_269_891 };
const BASE_FEE = 10n ** 10n;

let anvil: Anvil;
beforeAll(async () => {
  anvil = await startAnvil({
    args: ['--chain-id', '1', '--hardfork', 'shanghai', '--no-mining', '--order', 'fifo'],
  });
});
afterAll(() => anvil.stop());

const ask = <T>(method: string, ...params: unknown[]): Promise<T> => callNode(anvil.url, method, params);

function toComparable({ action, result, error, subtraces, traceAddress, type }: RecordedTrace) {
  const { creationMethod: _, ...rest } = action;
  return {
    type,
    action: rest,
    ...(error === undefined ? { result } : { error }),
    subtraces,
    traceAddress,
  };
}

it('what is traced is what Anvil traces of the same transactions', async () => {
  const calls = createCalls(createDice('tracer'));
  const { transferStep, payStep, deployStep, diesAtBirth, balanceStep } = calls;
  const world = await createWorld(AT);
  const made = await makeBlock(world, {
    ...AT,
    gasLimit: 30_000_000,
    baseFee: BASE_FEE,
    sends: [
      ...toMix({ name: 'tracer', count: 60, types: [0, 1, 2] }),
      { call: script(900_000, deployStep('create'), diesAtBirth(), deployStep('create2')), type: 2 },
      {
        call: script(900_000, nested(500_000, transferStep(), nested(9_000), balanceStep()), payStep()),
        type: 2,
      },
      { call: script(200_000, { does: 'die', target: '0x1234' }), type: 2 },
    ],
  });
  const { traces } = toRecorded(made, { receipts: false, traces: true, withdrawals: false });

  const fresh = await createWorld(AT);
  for (const { address, nonce } of fresh.senders) {
    await ask('anvil_setBalance', address.toString(), '0xd3c21bcecceda1000000');
    await ask('anvil_setNonce', address.toString(), `0x${nonce.toString(16)}`);
  }
  for (const { address, code } of [...TOKENS, LOGGING, SCRIPTED, INNER]) {
    await ask('anvil_setCode', address, `0x${code}`);
    await ask('anvil_setBalance', address, '0xde0b6b3a7640000');
    await ask('anvil_setNonce', address, '0x1');
  }
  await ask('anvil_setCoinbase', made.block.header.coinbase.toString());
  await ask('anvil_setNextBlockBaseFeePerGas', `0x${BASE_FEE.toString(16)}`);
  for (const { tx } of made.ran) {
    const raw = `0x${Buffer.from(tx.serialize()).toString('hex')}`;
    await ask('eth_sendRawTransaction', raw);
  }
  await ask('anvil_mine', '0x1');
  const block = await ask<Recorded['block']>('eth_getBlockByNumber', 'latest', true);
  expect(block.transactions.map(({ hash }) => hash)).toEqual(
    made.ran.map(({ tx }) => `0x${Buffer.from(tx.hash()).toString('hex')}`),
  );
  const other = await ask<RecordedTrace[]>('trace_block', block.number);
  expect(traces!.length).toBeGreaterThan(100);
  expect(traces!.map(toComparable)).toEqual(other.map(toComparable));
});
