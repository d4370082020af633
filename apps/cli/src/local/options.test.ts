import { expect, test } from 'vitest';
import { pairAddresses } from './options.js';

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
