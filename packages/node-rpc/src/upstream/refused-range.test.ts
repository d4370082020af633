import { describe, expect, it } from 'vitest';
import { parseRefusedRange } from './refused-range.js';
import { judgeRefusedRange } from './verdict.js';

const width = (blocks: number | null = null) => ({ logs: false, blocks, until: null });
const logs = (until: number | null = null) => ({ logs: true, blocks: null, until });

describe('a refusal of a range', () => {
  it.each([
    [-32614, 'eth_getLogs is limited to a 10,000 range', width(10_000)],
    [-32602, 'eth_getLogs and eth_newFilter are limited to a 10,000 blocks range', width(10_000)],
    [-32615, 'eth_getLogs is limited to a 5 block range', width(5)],
    [
      -32600,
      'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.',
      width(10),
    ],
    [-32000, 'requested too many blocks from 0 to 9999, maximum is set to 2048', width(2_048)],
    [-32000, 'exceed maximum block range: 5000', width(5_000)],
    [-32701, 'exceed maximum block range: 50000', width(50_000)],
    [-32602, 'query exceeds max block range 100000', width(100_000)],
    [35, 'ranges over 10000 blocks are not supported on freetier', width(10_000)],
    [-32000, 'block range greater than 10000 max', width(10_000)],
    [
      -32047,
      "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: 800",
      width(800),
    ],
    [-32000, 'eth_getLogs is limited to 0 - 10000 blocks range', width(10_000)],
    [-32000, 'GetLogs query must be smaller than size 1024', width(1_024)],
    [-32600, 'Maximum allowed number of requested blocks is 1000', width(1_000)],
    [-32602, 'block range too large, max is 1k blocks', width(1_000)],
    [-32600, 'block range is too wide', width()],
    [-32000, 'Block range limit exceeded. See more details at https://docs.example.com/limits', width()],
    [-32005, 'Requested range exceeds maximum RPC range limit', width()],
    [-32000, 'too wide blocks range, the limit is 0', width()],
    [-32005, 'limit exceeded', width()],
    // hyperindex#605: the refused width beside the limit, also counted as the distance of the bounds.
    [
      -32000,
      'block range is larger than max block range, block range = 5120, max block range = 5000',
      width(5_000),
    ],
    [
      -32000,
      'block range is larger than max block range, block range = 4095, max block range = 500',
      width(500),
    ],
    [-32000, 'block range too large (2500), maximum allowed is 2000 blocks', width(2_000)],
    [-32602, 'range 1000000 exceeds limit of 10000', width(10_000)],
    [-32001, 'Block range too large: maximum allowed is 20000 blocks', width(20_000)],
    [-32062, 'Block range is too large', width()],
    // conflux-rust, core space and eSpace.
    [
      -32016,
      'The gap between from_epoch and to_epoch is larger than max_gap (from: 1, to: 5000, max_gap: 1000)',
      width(1_000),
    ],
    [
      -32602,
      'The gap between from_block and to_block is larger than max_gap (from: 1, to: 5000, max_gap: 1000)',
      width(1_000),
    ],
    [
      -32005,
      'query exceeds max block range 1000: blocks 1 to 5000 are 5000. Try with this block range [0x1, 0x3e8].',
      { logs: false, blocks: 1_000, until: 1_000 },
    ],
  ])('%i %s', (code, message, expected) => expect(parseRefusedRange(code, message)).toEqual(expected));
});

describe('a refusal of what was found', () => {
  it.each([
    [-32005, 'query returned more than 10000 results', logs()],
    [-32005, 'query returned more than 10000 results. Try with this block range [0x1, 0x1f3].', logs(0x1f3)],
    [-32602, 'query exceeds max results 20000, retry with the range 100-250', logs(250)],
    [
      -32602,
      'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x0, 0x270f]',
      logs(0x270f),
    ],
    [-32000, 'logs matched by query exceeds limit of 10000', logs()],
    [-32005, 'Too many logs requested. Max logs per response is 20000.', logs()],
    [-32000, 'query timeout exceeded', logs()],
    [-32020, 'backend response too large', logs()],
    [-32008, 'Response is too big', logs()],
    [-32000, 'response size exceeded the limit of 10485760 bytes', logs()],
  ])('%i %s', (code, message, expected) => expect(parseRefusedRange(code, message)).toEqual(expected));
});

describe('no refusal of a range', () => {
  it.each([
    [-32602, 'invalid block range params'],
    [-32000, 'invalid block range: begin block 5 is greater than end block 4'],
    [-32602, 'invalid argument 0: hex string without 0x prefix'],
    [-32000, 'unknown block'],
    [-32601, 'the method eth_getLogs does not exist/is not available'],
    [3, 'execution reverted'],
    [-32000, 'header not found'],
  ])('%i %s', (code, message) => expect(parseRefusedRange(code, message)).toBeNull());
});

describe('a refusal whose data say more', () => {
  it.each([
    // boba_legacy#827.
    [
      'invalid params',
      { error_id: '4ed94073-0317', payload: 'range 9009594 is bigger than range limit 2000' },
      2_000,
    ],
    ['block range is too wide', { limit: 500 }, 500],
    ['block range is too wide', 'at most 1,000 blocks, maximum 1,000', 1_000],
    ['block range is too wide', { trace_id: 'af2eeafc9a1ed2f6adb2b72532977335' }, null],
    ['exceed maximum block range: 5000', { limit: 7 }, 5_000],
  ])('%s %j', (message, data, blocks) => {
    expect(parseRefusedRange(-32602, message, JSON.stringify(data))).toEqual(width(blocks));
  });
});

describe('an error to logs of several blocks', () => {
  const judge = (code: number, message: string) =>
    judgeRefusedRange({ code, message, error: Buffer.from(JSON.stringify({ code, message })) });

  it.each([
    // rindexer#327.
    [-32001, 'Unable to complete request at this time.'],
    [-32603, 'internal error'],
    [-32603, 'request timed out'],
    [-32000, 'context deadline exceeded'],
    [-32002, 'try again'],
    [-32000, 'something that no node said before'],
  ])('%i %s may be about the range', (code, message) => {
    expect(judge(code, message)).toMatchObject({ unsure: true });
  });

  it.each([
    [-32000, 'invalid block range params'],
    [-32000, 'header not found'],
    [-32001, 'block not found'],
    [-32602, 'invalid argument 0'],
    [-32601, 'the method eth_getLogs does not exist/is not available'],
    [-32000, 'missing trie node 0x1'],
    [4444, 'gone'],
    [-32005, 'slow down'],
    [-32000, 'rate limit'],
    [3, 'execution reverted'],
  ])('%i %s is not', (code, message) => expect(judge(code, message)).toBeNull());
});
