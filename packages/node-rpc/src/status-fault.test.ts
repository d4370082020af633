import { describe, expect, it } from 'vitest';
import { testUpstream } from '../test/test-source.js';
import { createNodeLabel } from './node-label.js';
import { retryAfterMs, statusFault } from './status-fault.js';

const asked = { label: createNodeLabel(testUpstream('http://node.example')), what: 'eth_chainId' };
const NOW = Date.parse('2026-01-01T00:00:00Z');

const fault = (status: number, text = '', calls = 1, more: { retryAfter?: string; location?: string } = {}) =>
  statusFault({ status, text, retryAfter: more.retryAfter, location: more.location }, asked, calls, NOW);

describe('statusFault', () => {
  it.each([
    [429, '', 'NODE_RATE_LIMITED', 'here'],
    [403, 'error code: 1015', 'NODE_RATE_LIMITED', 'here'],
    [401, '', 'NODE_UNAUTHORIZED', 'elsewhere'],
    [403, 'Forbidden', 'NODE_UNAUTHORIZED', 'elsewhere'],
    [301, '', 'NODE_HTTP_ERROR', 'elsewhere'],
    [404, 'page not found', 'NODE_HTTP_ERROR', 'here'],
    [408, '', 'NODE_TIMEOUT', 'here'],
    [413, '', 'NODE_ANSWER_TOO_LARGE', 'elsewhere'],
    [500, '', 'NODE_HTTP_ERROR', 'here'],
    [502, '<html>Bad Gateway</html>', 'NODE_HTTP_ERROR', 'here'],
    [504, '', 'NODE_TIMEOUT', 'here'],
  ])('HTTP %d "%s" is %s, retry %s', (status, text, code, action) => {
    expect([fault(status, text).error.code, fault(status, text).action]).toEqual([code, action]);
  });

  it.each([[413], [429], [500], [503], [504]])('HTTP %d to a batch shrinks it', (status) => {
    expect(fault(status, '', 16).action).toBe('shrink');
  });

  it('says where a redirect leads, and that it is not followed', () => {
    const { error } = fault(308, '', 1, { location: 'https://elsewhere.example/' });
    expect(error.message).toContain('redirects to https://elsewhere.example/ (HTTP 308)');
    expect(error.hint).toContain('not followed');
  });

  it('honours Retry-After, in seconds or as a date', () => {
    expect(fault(429, '', 1, { retryAfter: '7' }).retryAfterMs).toBe(7_000);
    expect(fault(503, '', 1, { retryAfter: 'Thu, 01 Jan 2026 00:00:30 GMT' }).retryAfterMs).toBe(30_000);
    expect(retryAfterMs('Wed, 31 Dec 2025 00:00:00 GMT', NOW)).toBe(0);
    expect(retryAfterMs('soon', NOW)).toBeUndefined();
    expect(retryAfterMs(undefined, NOW)).toBeUndefined();
  });
});
