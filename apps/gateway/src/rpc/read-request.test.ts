import { expect, it } from 'vitest';
import { readRequest } from './read-request.js';

const call = '{"id": 1.0,"method":"eth_call","params":[ "é" ]}';

it.each([
  ['one call', call],
  ['a batch', `[ ${call} , ${call.replace('é', 'e')}]`],
])('keeps the texts of %s as they were sent, also behind a byte order mark', (_, text) => {
  const { items } = readRequest(Buffer.from(text), 2);
  expect(items[0]).toEqual({
    call: { id: '1.0', method: 'eth_call', params: ['é'], paramsText: '[ "é" ]' },
  });
  expect(readRequest(Buffer.from(`\ufeff${text}`), 2).items).toEqual(items);
});

const withId = (id: string): string => `{"id":${id},"method":"eth_call"}`;

it.each(['true', 'false', '{}', '{"a":1}', '[]', '[1]', '1,"id":true'])(
  'refuses the id %s, which JSON-RPC does not have, and answers with none',
  (id) => {
    const problem = expect.objectContaining({ reason: 'request-malformed' });
    expect(() => readRequest(Buffer.from(withId(id)), 2)).toThrow('The id is a number, a string or null.');
    const { items } = readRequest(Buffer.from(`[${withId(id)},${withId('7')}]`), 2);
    expect(items).toEqual([{ id: 'null', problem }, { call: expect.objectContaining({ id: '7' }) }]);
  },
);

it.each(['null', '0', '-0', '1.50', '-1e-7', '1e999', '12345678901234567890', '""', '"true"', 'true,"id":1'])(
  'keeps the id %s as it was written',
  (id) => {
    const { items } = readRequest(Buffer.from(withId(id)), 2);
    expect(items).toMatchObject([{ call: { id: id.replace('true,"id":', '') } }]);
  },
);
