import { CallController, type CallSignal } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import { beginCalls } from '../http/exchange.js';
import { createAnswerJointly } from './answer-jointly.js';
import { createAnswerMemory } from './answer-memory.js';
import type { CallContext, RpcAnswer } from './method.js';

const MIB = 1_048_576;
const getCaller = (signal: CallSignal): CallContext =>
  ({ signal, notes: beginCalls() }) as unknown as CallContext;

/** An answer by the test, from an upstream called `one`. */
function question() {
  const asked: { caller: CallContext; give: (answer: RpcAnswer) => void }[] = [];
  const answer = (caller: CallContext): Promise<RpcAnswer> => {
    caller.notes?.upstreams.push('one');
    return new Promise((give) => {
      asked.push({ caller, give });
    });
  };
  return { asked, answer };
}
const whole: RpcAnswer = { kind: 'result', body: { bytes: Buffer.from('[]'), rest: null } };

it('answers once for all who ask at the same time, and anew for who comes later', async () => {
  const joint = createAnswerJointly();
  const { asked, answer } = question();
  const callers = [1, 2, 3].map(() => getCaller(new CallController()));
  const all = callers.map((caller) => joint('a', caller, answer));
  expect(asked).toHaveLength(1);
  asked[0]?.give(whole);
  expect(await Promise.all(all)).toEqual([whole, whole, whole]);
  expect(callers.map(({ notes }) => notes?.upstreams)).toEqual([['one'], ['one'], ['one']]);
  void joint('a', getCaller(new CallController()), answer);
  expect(asked).toHaveLength(2);
});

it('goes on while somebody waits, and holds what it holds until the last one has it', async () => {
  const joint = createAnswerJointly();
  const memory = createAnswerMemory(10 * MIB);
  const { asked, answer } = question();
  const clients = [1, 2, 3].map(() => new CallController());
  const all = clients.map((client) => joint('a', getCaller(client), answer));
  const [first, second, third] = clients as [CallController, CallController, CallController];
  first.abort(new Error('gone'));
  await expect(all[0]).rejects.toThrow('gone');
  memory.add(MIB, (asked[0] as { caller: CallContext }).caller.signal, 1);
  asked[0]?.give(whole);
  await Promise.all(all.slice(1));
  second.abort(new Error('it has its answer'));
  expect(memory.bytes).toBe(MIB);
  third.abort(new Error('it has its answer'));
  expect(memory.bytes).toBe(0);
});

it('stops when nobody waits any more; who comes then begins anew', async () => {
  const joint = createAnswerJointly();
  const { asked, answer } = question();
  const client = new CallController();
  const left = joint('a', getCaller(client), answer);
  client.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  expect(asked[0]?.caller.signal.aborted).toBe(true);
  void joint('a', getCaller(new CallController()), answer);
  expect(asked).toHaveLength(2);
});
