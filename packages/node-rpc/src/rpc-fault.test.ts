import { describe, expect, it } from 'vitest';
import { testUpstream } from '../test/test-source.js';
import { createNodeLabel } from './node-label.js';
import { rpcFault } from './rpc-fault.js';

const asked = {
  label: createNodeLabel(testUpstream('https://node.example/v3/0123456789abcdef')),
  what: 'trace_block',
};

const single = (code: number, message: string) => {
  const fault = rpcFault({ code, message }, asked, 1);
  return [fault.error.code, fault.action];
};
const batch = (code: number, message: string) => {
  const fault = rpcFault({ code, message }, asked, 16);
  return [fault.error.code, fault.action];
};

describe('rpcFault', () => {
  it.each([
    [-32601, 'the method trace_block does not exist/is not available', 'NODE_METHOD_MISSING', 'elsewhere'],
    [-32004, 'Method not supported', 'NODE_METHOD_MISSING', 'elsewhere'],
    [-32600, 'Unsupported method: trace_block on ETH_MAINNET', 'NODE_METHOD_MISSING', 'elsewhere'],
    [-32000, 'the namespace trace is not enabled', 'NODE_METHOD_MISSING', 'elsewhere'],
    [-32602, 'invalid argument 0', 'NODE_ERROR', 'elsewhere'],
    [-32005, 'daily request count exceeded, request rate limited', 'NODE_RATE_LIMITED', 'here'],
    [-32005, 'limit exceeded', 'NODE_RATE_LIMITED', 'here'],
    [-32007, '50/second request limit reached', 'NODE_RATE_LIMITED', 'here'],
    [429, 'Your app has exceeded its compute units per second capacity', 'NODE_RATE_LIMITED', 'here'],
    [1015, 'you are being blocked', 'NODE_RATE_LIMITED', 'here'],
    [-32000, 'too many requests, please slow down', 'NODE_RATE_LIMITED', 'here'],
    [-32002, 'request timed out', 'NODE_TIMEOUT', 'here'],
    [-32000, 'execution timeout', 'NODE_TIMEOUT', 'here'],
    [-32003, 'response too large', 'NODE_ANSWER_TOO_LARGE', 'elsewhere'],
    [-32008, 'Response is too big', 'NODE_ANSWER_TOO_LARGE', 'elsewhere'],
    [-32603, 'internal error', 'NODE_ERROR', 'here'],
    [-32000, 'missing trie node', 'NODE_ERROR', 'elsewhere'],
    [-32001, 'Resource not found', 'NODE_ERROR', 'elsewhere'],
    [3, 'whatever comes next', 'NODE_ERROR', 'elsewhere'],
  ])('a single call: %d "%s" is %s, retry %s', (code, message, expected, action) => {
    expect(single(code, message)).toEqual([expected, action]);
  });

  it.each([
    [-32600, 'batch too large', 'NODE_ANSWER_TOO_LARGE'],
    [-32005, 'Batched requests are not supported by this server', 'NODE_ERROR'],
    [-32010, 'The batch request was too large', 'NODE_ANSWER_TOO_LARGE'],
    [-32007, 'Request is too big', 'NODE_ANSWER_TOO_LARGE'],
    [-32003, 'response too large', 'NODE_ANSWER_TOO_LARGE'],
    [-32005, 'rate limited', 'NODE_RATE_LIMITED'],
    [-32600, 'Invalid Request', 'NODE_ERROR'],
    [-32002, 'request timed out', 'NODE_TIMEOUT'],
  ])('a batch: %d "%s" is %s and shrinks it', (code, message, expected) => {
    expect(batch(code, message)).toEqual([expected, 'shrink']);
  });

  it('names the node, what it said and what was asked, without its key', () => {
    const { error } = rpcFault(
      { code: -32000, message: 'no such project 0123456789abcdef\nat line 2' },
      asked,
      1,
    );
    expect(error.message).toBe(
      'Node main (https://node.example/***) answered error -32000 "no such project *** at line 2" when asked trace_block.',
    );
    expect(error.data).toMatchObject({ upstream: 'main', rpcCode: -32000 });
  });

  it.each([['a word'], [null], [{ code: 'x' }], [{ message: 7 }], [[]]])('survives the error %j', (error) => {
    expect(rpcFault(error, asked, 1).error.code).toBe('NODE_ERROR');
  });
});
