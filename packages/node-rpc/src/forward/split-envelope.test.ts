import { expect, it } from 'vitest';
import { envelopeBehind, findValue, TAIL_BYTES } from './split-envelope.js';

function found(text: string): string | null {
  const bytes = Buffer.from(text);
  const value = findValue(bytes);
  if (value === null) return null;
  const behind = envelopeBehind(bytes.subarray(-TAIL_BYTES));
  if (behind === -1) return null;
  return `${value.kind} ${bytes.subarray(value.start, bytes.length - behind)}`;
}

it.each([
  ['{"jsonrpc":"2.0","id":1,"result":"0x1"}', 'result "0x1"'],
  ['{"jsonrpc":"2.0","id":1,"result":null}\n', 'result null'],
  ['{"jsonrpc":"2.0","result":{"a":1,"id":7},"id":1}', 'result {"a":1,"id":7}'],
  ['{"jsonrpc":"2.0","id":1,"result":{"a":1,"id":7}}', 'result {"a":1,"id":7}'],
  ['{"result":[1,2], "id": 1, "jsonrpc": "2.0"}', 'result [1,2]'],
  ['{ "id" : 1 , "result" : "a\\",\\"id\\":1}" }', 'result "a\\",\\"id\\":1}"'],
  ['{"jsonrpc":"2.0","id":1,"error":null,"result":true}', 'result true'],
  ['{"jsonrpc":"2.0","id":1,"result":true,"error":null}', 'result true'],
  [
    '{"jsonrpc":"2.0","id":1,"error":{"code":3,"message":"m","data":"0x"}}',
    'error {"code":3,"message":"m","data":"0x"}',
  ],
  ['{"error":{"code":-1,"message":"m"},"id":null}', 'error {"code":-1,"message":"m"}'],
])('finds the value in %s', (text, value) => {
  expect(found(text)).toBe(value);
});

it.each([
  '',
  '[]',
  '<html>',
  '"result"',
  '{"jsonrpc":"2.0","id":1}',
  '{"id":{"result":1},"x":2}',
  '{"jsonrpc":"2.0","id":1,"result":"0x1"',
  '{"jsonrpc":"2.0","id":1,"result":[1,2',
])('finds none in %s', (text) => {
  expect(found(text)).toBeNull();
});
