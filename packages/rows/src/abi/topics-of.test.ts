import { expect, it } from 'vitest';
import { compileAbi } from './compile-abi.js';
import { getTopics } from './topics-of.js';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const abi = compileAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Transfer(address indexed from, address indexed to, uint256 indexed id)',
  'event Set(uint8 a)',
  'event Set(uint16 a)',
  'event Note(bytes data) anonymous',
]);

it.each([
  ['Transfer', [TRANSFER]],
  ['Transfer(address,address,uint)', [TRANSFER]],
  ['event Transfer(address indexed from, address to, uint256)', [TRANSFER]],
  [`0x${TRANSFER.slice(2).toUpperCase()}`, [TRANSFER]],
])('%s means %j', async (text, topics) => {
  expect(await getTopics(text, await abi)).toEqual(topics);
  if (text.includes('(')) expect(await getTopics(text, null)).toEqual(topics);
});

it('a name means all events that have it', async () => {
  const decoder = await abi;
  const both = [...(await getTopics('Set(uint8)', decoder)), ...(await getTopics('Set(uint16)', decoder))];
  expect(await getTopics('Set', decoder)).toEqual(both);
});

it.each([
  ['Approval', 'ABI_INVALID', /has no event Approval; it has Transfer, Set, Note\./],
  ['Note', 'ABI_INVALID', /is anonymous/],
  ['Transfer(address', 'ABI_INVALID', /has an end where/],
  ['0xddf2', 'USAGE', /"0xddf2" is no topic/],
])('%s is refused', async (text, code, message) => {
  await expect(getTopics(text, await abi)).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message),
  });
});

it('a name without an ABI is refused', async () => {
  await expect(getTopics('Transfer', null)).rejects.toMatchObject({ code: 'USAGE' });
});
