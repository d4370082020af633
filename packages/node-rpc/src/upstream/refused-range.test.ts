import { describe, expect, it } from 'vitest';
import { parseRefusedRange } from './verdict.js';

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
