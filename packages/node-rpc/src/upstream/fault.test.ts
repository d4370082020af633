import { describe, expect, it } from 'vitest';
import { testUpstream } from '../../test/test-source.js';
import { toRpcFault, toStatusFault } from './fault.js';
import { createNodeLabel } from './label.js';
import { parseRetryAfter } from './verdict.js';

const asked = {
  label: createNodeLabel(testUpstream('https://node.example/v3/0123456789abcdef')),
  what: 'trace_block',
};

const single = (code: number, message: string) => {
  const fault = toRpcFault({ code, message }, asked, { calls: 1, method: 'trace_block' });
  return [fault.error.code, fault.action];
};
const batch = (code: number, message: string) => {
  const fault = toRpcFault({ code, message }, asked, { calls: 16, method: 'trace_block' });
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
    const { error } = toRpcFault(
      { code: -32000, message: 'no such project 0123456789abcdef\nat line 2' },
      asked,
      { calls: 1, method: 'trace_block' },
    );
    expect(error.message).toBe(
      'Node main (https://node.example/***) answered error -32000 "no such project *** at line 2" when asked trace_block.',
    );
    expect(error.data).toMatchObject({ upstream: 'main', rpcCode: -32000 });
  });

  it.each([['a word'], [null], [{ code: 'x' }], [{ message: 7 }], [[]]])('survives the error %j', (error) => {
    expect(toRpcFault(error, asked, { calls: 1, method: 'trace_block' }).error.code).toBe('NODE_ERROR');
  });
});

const NOW = Date.parse('2026-01-01T00:00:00Z');

const ofStatus = (
  status: number,
  text = '',
  calls = 1,
  more: { retryAfter?: string; location?: string } = {},
) => toStatusFault({ status, text, retryAfter: more.retryAfter, location: more.location }, asked, calls, NOW);

describe('statusFault', () => {
  it.each([
    [429, '', 'NODE_RATE_LIMITED', 'here'],
    [403, 'error code: 1015', 'NODE_RATE_LIMITED', 'here'],
    [401, '', 'NODE_UNAUTHORIZED', 'elsewhere'],
    [402, '', 'NODE_UNAUTHORIZED', 'elsewhere'],
    [407, '', 'NODE_UNAUTHORIZED', 'elsewhere'],
    [403, 'Forbidden', 'NODE_UNAUTHORIZED', 'elsewhere'],
    [301, '', 'NODE_HTTP_ERROR', 'elsewhere'],
    [404, 'page not found', 'NODE_HTTP_ERROR', 'here'],
    [408, '', 'NODE_TIMEOUT', 'here'],
    [413, '', 'NODE_ANSWER_TOO_LARGE', 'elsewhere'],
    [500, '', 'NODE_HTTP_ERROR', 'here'],
    [502, '<html>Bad Gateway</html>', 'NODE_HTTP_ERROR', 'here'],
    [504, '', 'NODE_TIMEOUT', 'here'],
  ])('HTTP %d "%s" is %s, retry %s', (status, text, code, action) => {
    expect([ofStatus(status, text).error.code, ofStatus(status, text).action]).toEqual([code, action]);
  });

  it.each([[413], [429], [500], [503], [504]])('HTTP %d to a batch shrinks it', (status) => {
    expect(ofStatus(status, '', 16).action).toBe('shrink');
  });

  it('says where a redirect leads, and that it is not followed', () => {
    const { error } = ofStatus(308, '', 1, { location: 'https://elsewhere.example/' });
    expect(error.message).toContain('redirects to https://elsewhere.example/ (HTTP 308)');
    expect(error.hint).toContain('not followed');
  });

  it('honours Retry-After, in seconds or as a date', () => {
    expect(ofStatus(429, '', 1, { retryAfter: '7' }).retryAfterMs).toBe(7_000);
    expect(ofStatus(503, '', 1, { retryAfter: 'Thu, 01 Jan 2026 00:00:30 GMT' }).retryAfterMs).toBe(30_000);
    expect(parseRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', NOW)).toBe(0);
    expect(parseRetryAfter('86400', NOW)).toBe(600_000);
    expect(parseRetryAfter('soon', NOW)).toBeUndefined();
    expect(parseRetryAfter(undefined, NOW)).toBeUndefined();
  });
});
