import { CallController, type CallSignal } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import { beginCalls } from '../http/exchange.js';
import { createAnswerJointly } from './answer-jointly.js';
import { createAnswerMemory } from './answer-memory.js';
import type { RpcAnswer, RpcVisit } from './method.js';

const MIB = 1_048_576;
const visitOf = (signal: CallSignal): RpcVisit => ({ signal, notes: beginCalls() }) as unknown as RpcVisit;

/** An answer by the test, from an upstream called `one`. */
function question() {
  const asked: { visit: RpcVisit; give: (answer: RpcAnswer) => void }[] = [];
  const answer = (visit: RpcVisit): Promise<RpcAnswer> => {
    visit.notes?.upstreams.push('one');
    return new Promise((give) => {
      asked.push({ visit, give });
    });
  };
  return { asked, answer };
}
const whole: RpcAnswer = { kind: 'result', body: { bytes: Buffer.from('[]'), rest: null } };

it('answers once for all who ask at the same time, and anew for who comes later', async () => {
  const joint = createAnswerJointly();
  const { asked, answer } = question();
  const visits = [1, 2, 3].map(() => visitOf(new CallController()));
  const all = visits.map((visit) => joint('a', visit, answer));
  expect(asked).toHaveLength(1);
  asked[0]?.give(whole);
  expect(await Promise.all(all)).toEqual([whole, whole, whole]);
  expect(visits.map(({ notes }) => notes?.upstreams)).toEqual([['one'], ['one'], ['one']]);
  void joint('a', visitOf(new CallController()), answer);
  expect(asked).toHaveLength(2);
});

it('goes on while somebody waits, and holds what it holds until the last one has it', async () => {
  const joint = createAnswerJointly();
  const memory = createAnswerMemory(10 * MIB);
  const { asked, answer } = question();
  const clients = [1, 2, 3].map(() => new CallController());
  const all = clients.map((client) => joint('a', visitOf(client), answer));
  const [first, second, third] = clients as [CallController, CallController, CallController];
  first.abort(new Error('gone'));
  await expect(all[0]).rejects.toThrow('gone');
  memory.hold(MIB, (asked[0] as { visit: RpcVisit }).visit.signal, 1);
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
  const left = joint('a', visitOf(client), answer);
  client.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  expect(asked[0]?.visit.signal.aborted).toBe(true);
  void joint('a', visitOf(new CallController()), answer);
  expect(asked).toHaveLength(2);
});
