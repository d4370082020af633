import { describe, expect, it } from 'vitest';
import { createRequestCache } from './request-cache.js';

const method = { name: 'eth_getStorageAt' };
const RESULT = Buffer.from('"0x1"');
const body = (text: string): Buffer => Buffer.from(text);

function noted(text: string, id: string | undefined) {
  const known = createRequestCache<typeof method>((name) => (name === 'kept' ? RESULT : undefined));
  known.add(body(text), id, method, 'kept');
  return known;
}

describe('texts that were read before', () => {
  it.each([
    ['as viem writes it', (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"m","params":[]}`],
    ['as ethers writes it', (id: number) => `{"method":"m","params":[],"id":${id},"jsonrpc":"2.0"}`],
    ['as web3.py writes it', (id: number) => `{"jsonrpc": "2.0", "method": "m", "params": [], "id": ${id}}`],
    ['with the id first', (id: number) => `{"id":${id},"jsonrpc":"2.0","method":"m","params":["1"]}`],
  ])('are known whatever their id is, %s', (_, text) => {
    const known = noted(text(1), '1');
    expect(known.find(body(text(7)))).toEqual({ method, id: '7', result: RESULT });
    expect(known.find(body(text(1).replace('"m"', '"n"')))).toBeUndefined();
  });

  it('are not known where the answer is not kept any more', () => {
    const known = createRequestCache<typeof method>(() => undefined);
    const text = '{"jsonrpc":"2.0","id":1,"method":"m","params":[]}';
    known.add(body(text), '1', method, 'kept');
    expect(known.find(body(text))).toBeUndefined();
  });

  it.each([
    ['a second id', '{"jsonrpc":"2.0","id":1,"id":1,"method":"m","params":[]}', '1'],
    ['a second id behind a space', '{"id":1,"id" :1,"method":"m","params":[]}', '1'],
    ['an id within the parameters', '{"jsonrpc":"2.0","method":"m","params":[{"id":1}],"id" :1}', '1'],
    ['an id written with an escape', '{"id":1,"\\u0069d":1,"method":"m","params":[]}', '1'],
    ['an id that is a text', '{"jsonrpc":"2.0","id":"1","method":"m","params":[]}', '"1"'],
    ['an id with leading zeros', '{"jsonrpc":"2.0","id":01,"method":"m","params":[]}', '01'],
    ['characters beyond ASCII', '{"jsonrpc":"2.0","id":1,"method":"m","params":["é"]}', '1'],
    ['no id', '{"jsonrpc":"2.0","method":"m","params":[]}', undefined],
    ['a great length', `{"jsonrpc":"2.0","id":1,"method":"m","params":["${'x'.repeat(1_024)}"]}`, '1'],
  ])('are read again with %s', (_, text, id) => {
    expect(noted(text, id).find(body(text))).toBeUndefined();
  });
});
