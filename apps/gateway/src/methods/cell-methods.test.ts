import { expect, it } from 'vitest';
import { createAnswerMemory } from '../rpc/answer-memory.js';
import type { CallContext } from '../rpc/method.js';
import { cellMethods } from './cell-methods.js';
import type { MethodParts } from './filter-methods.js';

it('get_consensus is asked for by nobody in particular, and holds no memory for anybody', async () => {
  const memory = createAnswerMemory(10_000_000);
  let time = 0;
  let asked = 0;
  const [first, second] = [new AbortController(), new AbortController()];
  const caller = ({ signal }: AbortController): CallContext =>
    ({
      signal,
      network: {
        memory,
        config: { rpc: { aliases: {}, timeoutMs: 1_000, maxAnswerBytes: 1_000 } },
        forwarder: {
          call: async () => {
            asked += 1;
            return {
              kind: 'result',
              body: { bytes: Buffer.from('{"id":"ckb"}'), rest: null },
              upstream: 'one',
            };
          },
        },
      },
    }) as unknown as CallContext;
  const method = cellMethods({ elapsed: () => time } as MethodParts).find(
    ({ name }) => name === 'get_consensus',
  );
  const call = { id: '1', method: 'get_consensus', params: [], paramsText: '[]' };
  for (let minute = 0; minute < 20; minute++) {
    time = minute * 60_000;
    const answers = [method?.handle?.(call, caller(first)), method?.handle?.(call, caller(second))];
    for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ kind: 'result' });
  }
  expect(asked).toBe(20);
  await expect.poll(() => memory.bytes).toBe(0);
});
