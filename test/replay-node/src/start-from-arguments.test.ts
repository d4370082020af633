import { ALL } from '@packhouse/recordings';
import { afterEach, expect, test } from 'vitest';
import { type StartedNode, startFromArguments } from './start-from-arguments.js';
import { call } from './testing/rpc.js';

let started: StartedNode | undefined;
afterEach(() => started?.node.close());

test('generated blocks are extended, hidden above the head and followed by a giant one', async () => {
  started = await startFromArguments({
    generate: '2',
    extend: '9',
    giant: '1',
    head: '8',
    'chain-id': '5',
    'finalized-depth': '3',
  });
  expect(started).toMatchObject({ blocks: { first: 1, last: 10 } });
  const { url } = started.node;
  expect(await call(url, 'eth_chainId')).toBe('0x5');
  expect(await call(url, 'eth_blockNumber')).toBe('0x8');
  expect(await call(url, 'eth_getBlockByNumber', ['finalized', false])).toMatchObject({ number: '0x5' });
});

test.each([
  [{ generate: 'many' }, '--generate takes a number that is not negative, got "many".'],
  [{ generate: '2', port: '-1' }, '--port takes a number that is not negative, got "-1".'],
  [{ generate: '2', from: '5', to: '4' }, 'No block from 5 to 4 is in the recording.'],
])('%j is refused', async (values, message) => {
  await expect(startFromArguments(values)).rejects.toThrow(message);
});

test.each(ALL)('a file of $title is cut to a range', async (source) => {
  started = await startFromArguments({ file: [source.path('row')], from: '17686112', to: '17686114' });
  expect(started).toMatchObject({ blocks: { first: 17_686_112, last: 17_686_114 } });
});
