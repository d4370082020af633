import type { KeyRow } from '@packhouse/database';
import { CallController } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import { type AnswerMemory, createAnswerMemory } from './answer-memory.js';
import { askWhole, getOwnerName } from './ask-node.js';
import type { CallContext } from './method.js';

const MIB = 1_048_576;

/** A call context whose upstream returns `answer`. */
function getCaller(memory: AnswerMemory, answer: () => unknown): CallContext {
  const network = {
    memory,
    config: { rpc: { aliases: {}, timeoutMs: 1_000, maxAnswerBytes: 5 * MIB } },
    forwarder: { call: async () => answer() },
  };
  return { network, key: { id: 7 }, signal: new CallController() } as unknown as CallContext;
}
const result = (bytes: number) => ({
  kind: 'result',
  upstream: 'one',
  body: { bytes: Buffer.alloc(bytes), rest: null },
});
const logs = { method: 'eth_getLogs', params: '[{}]' };

it('what was refused or broke off takes no room until the client is answered', async () => {
  const memory = createAnswerMemory(10 * MIB);
  const refused = getCaller(memory, () => ({ kind: 'failed', reason: 'too-large', detail: 'large' }));
  const limit = { reason: 'answer-too-large', members: { limit: 5 * MIB } };
  for (let n = 0; n < 100; n++) await expect(askWhole(refused, logs)).rejects.toMatchObject(limit);
  const broken = getCaller(memory, () => {
    throw new Error('gone');
  });
  await expect(askWhole(broken, logs)).rejects.toThrow('gone');
  expect(memory.bytes).toBe(0);
});

it('a client whose calls keep the nodes busy is told when to come again, and named to the nodes', async () => {
  const asked: unknown[] = [];
  const memory = createAnswerMemory(10 * MIB);
  const busy = getCaller(memory, () => ({
    kind: 'failed',
    reason: 'busy',
    detail: 'many wait',
    retryAfterMs: 1_000,
  }));
  const { call } = busy.network.forwarder;
  busy.network.forwarder.call = async (request) => {
    asked.push(request.caller);
    return call(request);
  };
  await expect(askWhole(busy, logs)).rejects.toMatchObject({
    reason: 'nodes-busy',
    status: 503,
    headers: { 'retry-after': '1' },
    members: { retryAfterMs: 1_000 },
  });
  await expect(askWhole({ ...busy, key: undefined, address: '192.0.2.1' }, logs)).rejects.toThrow();
  expect(asked).toEqual([7, '192.0.2.1']);
});

it('a head and a link are asked for where there is no room for logs', async () => {
  const memory = createAnswerMemory(MIB, 5);
  memory.add(MIB, new CallController(), 1);
  const caller = getCaller(memory, () => result(100));
  await expect(askWhole(caller, logs)).rejects.toMatchObject({ reason: 'unavailable' });
  const head = { method: 'eth_getBlockByNumber', params: '["latest",false]' };
  expect(await askWhole(caller, head)).toMatchObject({ kind: 'result' });
});

it('what turns out to be large is counted whatever it is', async () => {
  const memory = createAnswerMemory(10 * MIB);
  const caller = getCaller(memory, () => result(3 * MIB));
  await askWhole(caller, { method: 'registry_accountList', params: '[]' });
  expect(memory.bytes).toBe(3 * MIB);
});

it('shares what there is by keys, and without one by addresses, IPv6 by what one customer has', () => {
  const of = (address: string) => getOwnerName({ key: undefined, address });
  expect(getOwnerName({ key: { id: 7 } as KeyRow, address: undefined })).toBe(7);
  expect(of('::ffff:192.0.2.1')).toBe('192.0.2.1');
  expect(of('2001:db8::1')).toBe(of('2001:db8::2'));
  expect(of('2001:db8::1')).not.toBe(of('2001:db8:0:1::1'));
});
