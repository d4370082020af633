import { describeError } from '@packhouse/runtime';
import { expect, test } from 'vitest';
import { checkLocalFlags, pairAddresses } from './options.js';

test.each([
  [['http://localhost:8545'], [{ url: 'http://localhost:8545' }]],
  [
    ['http://localhost:8545', 'ws://localhost:8546'],
    [{ url: 'http://localhost:8545', ws: 'ws://localhost:8546' }],
  ],
  [
    ['ws://localhost:8546', 'http://localhost:8545'],
    [{ url: 'http://localhost:8545', ws: 'ws://localhost:8546' }],
  ],
  [['wss://node.example/v2/key'], [{ url: 'https://node.example/v2/key', ws: 'wss://node.example/v2/key' }]],
  [
    ['http://a:1', 'http://b:1', 'ws://b:2', 'ws://a:2'],
    [
      { url: 'http://a:1', ws: 'ws://a:2' },
      { url: 'http://b:1', ws: 'ws://b:2' },
    ],
  ],
  [
    ['https://rpc.example', 'wss://stream.example'],
    [{ url: 'https://rpc.example', ws: 'wss://stream.example' }],
  ],
  [
    ['ws://a:2', 'http://b:1'],
    [{ url: 'http://a:2', ws: 'ws://a:2' }, { url: 'http://b:1' }],
  ],
])('the addresses %j are the nodes %j', (addresses, nodes) => {
  expect(pairAddresses(addresses)).toEqual(nodes);
});

test('reorganisations are an option of the demo chain alone, in seconds', () => {
  const check = (reorgEvery: string, rpc: string[] = [], networksFile?: string) =>
    checkLocalFlags({ rpc, reorgEvery }, networksFile).reorgEvery;
  expect(check('30')).toBe(30);
  expect(checkLocalFlags({ rpc: [] }).reorgEvery).toBeNull();
  expect(() => check('30', ['http://localhost:8545'])).toThrow(/only on the demo chain, and --rpc names/);
  expect(() => check('30', [], 'networks.yaml')).toThrow(/only on the demo chain, and NETWORKS_FILE names/);
  for (const wrong of ['4', '86401', '1.5', 'often', '']) expect(() => check(wrong)).toThrow(/--reorg-every/);
});

test.each([
  [{ from: '20', to: '10' }, /20 to 10 is reversed.*\[RANGE_INVALID\]$/],
  [{ from: '-1' }, /--from.*"-1".*\[RANGE_INVALID\]$/],
  [{ from: '0x10' }, /--from.*"0x10".*\[RANGE_INVALID\]$/],
  [{ from: 'latest' }, /--from.*"latest".*\[RANGE_INVALID\]$/],
  [{ from: '99999999999999999999' }, /--from.*\[RANGE_INVALID\]$/],
  [{ kinds: 'blocks,blobs' }, /no kind "blobs".*\[KIND_UNKNOWN\]$/],
  [{ port: '70000' }, /--port.*"70000".*\[USAGE\]$/],
  [{ reorgEvery: '1' }, /--reorg-every.*"1".*\[USAGE\]$/],
  [{ once: true }, /--once needs a last block.*\[USAGE\]$/],
  [
    { rpc: ['localhost:8545'] },
    /--rpc takes an http, https, ws or wss address, got one without a scheme.*\[USAGE\]$/,
  ],
  [{ network: 'Main Net' }, /--network.*"Main Net".*\[USAGE\]$/],
])('%j are refused in a sentence', (flags, sentence) => {
  const refusal = (): unknown => {
    try {
      return checkLocalFlags({ rpc: [], ...flags }, undefined);
    } catch (error) {
      return describeError(error);
    }
  };
  expect(refusal()).toMatch(sentence);
});
