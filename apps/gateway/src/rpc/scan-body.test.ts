import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectParsable } from './scan-body.js';

/** The reason that a text is refused for; `ok` if it is not. */
function getRefusal(text: string, maxCalls = 1_000): string {
  try {
    expectParsable(Buffer.from(text), maxCalls);
    return 'ok';
  } catch (error) {
    return (error as { reason: string }).reason;
  }
}
const toBatch = (calls: number, params: unknown[]): string =>
  JSON.stringify(
    Array.from({ length: calls }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_getLogs', params })),
  );
const filter = {
  fromBlock: '0x112a880',
  toBlock: '0x112a881',
  address: [`0x${'ab'.repeat(20)}`],
  topics: [`0x${'cd'.repeat(32)}`, null, [`0x${'ef'.repeat(32)}`, `0x${'01'.repeat(32)}`]],
};

it.each<[string, string]>([
  ['a call', '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"0x1","data":"0x2"},"latest"]}'],
  ['the largest batch, of filters', toBatch(1_000, [filter])],
  ['addresses as many as a filter may have', toBatch(10, [{ address: new Array(1_000).fill('0x1') }])],
  [
    'a long string with brackets and commas in it',
    JSON.stringify([`${'[,{'.repeat(100_000)}\\"`, ',[', '\\']),
  ],
  ['64 levels', `${'['.repeat(64)}${']'.repeat(64)}`],
  ['nothing', ''],
  ['what is no JSON', '"\\'],
])('lets %s be parsed', (_, text) => {
  expect(getRefusal(text)).toBe('ok');
});

it.each<[string, string, string]>([
  ['65 levels', `${'['.repeat(65)}${']'.repeat(65)}`, 'request-malformed'],
  ['levels without an end', '{"a":'.repeat(200_000), 'request-malformed'],
  ['a batch of too many calls', toBatch(1_001, []), 'batch-too-large'],
  ['a batch of small things', `[${'{},'.repeat(300_000)}{}]`, 'batch-too-large'],
  ['many elements', `{"params":[${'1,'.repeat(500_000)}1]}`, 'body-too-large'],
  ['many members', `{"params":[{${'"":1,'.repeat(200_000)}"":1}]}`, 'body-too-large'],
  ['many empty lists', `[[${'[],'.repeat(300_000)}[]]]`, 'body-too-large'],
])('refuses %s', (_, text, reason) => {
  expect(getRefusal(text)).toBe(reason);
});

describe('what is counted', () => {
  it('is the calls of any batch, as JSON.parse has them', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 3 }), { minLength: 1 }), fc.boolean(), (list, blanks) => {
        const text = JSON.stringify(list, null, blanks ? 2 : undefined);
        expect(getRefusal(text, list.length)).toBe('ok');
        if (list.length > 1) expect(getRefusal(text, list.length - 1)).toBe('batch-too-large');
      }),
      { numRuns: 500 },
    );
  });

  it('grows with the calls that a batch may have', () => {
    expect(getRefusal(toBatch(5_000, [filter]), 5_000)).toBe('ok');
    expect(getRefusal(`[[${'1,'.repeat(100_000)}1]]`, 5_000)).toBe('ok');
    expect(getRefusal(`[[${'1,'.repeat(200_000)}1]]`, 5_000)).toBe('body-too-large');
  });
});
