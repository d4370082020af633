import { expect, it } from 'vitest';
import { changeText, describeChange } from './describe-change.js';
import { parseNetworks } from './parse-networks.js';

const parse = (text: string) => parseNetworks(`networks:\n${text}`, { source: 'test', env: {} });
const told = (before: string, after: string) => describeChange(parse(before), parse(after)).map(changeText);

const A = '  - {id: a, family: evm, chainId: 1, upstreams: [{name: x, url: "http://one:1"}]}\n';
const B = '  - {id: b, family: cell, upstreams: [{url: "http://two:1"}]}\n';

it('networks that came and went are told, and their order does not matter', () => {
  expect(told(A, A + B)).toEqual(['b added']);
  expect(told(A + B, B)).toEqual(['a removed']);
  expect(told(A + B, B + A)).toEqual([]);
});

it('fields are told by name, and so are the fields within', () => {
  const other = A.replace('chainId: 1', 'chainId: 2, rpc: {timeoutMs: 500, maxLogs: 7}');
  expect(told(A, other)).toEqual(['a changed (rpc.timeoutMs, rpc.maxLogs, chainId, proofs.chainId)']);
});

it('upstreams that came, went or changed are told without their addresses and headers', () => {
  const more = A.replace(
    'http://one:1"}',
    'http://me:secret@one:1", headers: {X-Key: hidden}}, {name: y, url: "http://y:1"}',
  );
  const lines = told(A, more);
  expect(lines).toEqual(['a: upstream x changed (url, headers)', 'a: upstream y added']);
  expect(JSON.stringify(describeChange(parse(A), parse(more)))).not.toMatch(/secret|hidden|http/);
  expect(told(more, A)).toEqual(['a: upstream y removed', 'a: upstream x changed (url, headers)']);
});
