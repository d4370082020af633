import { type Asked, type Fault, makeFault } from './fault.js';

/**
 * Codes first. Sources: JSON-RPC 2.0 (-32700 to -32600), EIP-1474 (-32004 method not supported, -32005 limit
 * exceeded), geth rpc/errors.go (-32002 timed out, -32003 response too large), jsonrpsee (-32007 and -32008 too
 * big, -32010 and -32011 batch too big), and what hosted nodes send when a rate is exceeded.
 */
const RATE_CODES = new Set([429, 1015, -32005, -32007, -32016, -32029, -32090, -32097]);
const TOO_BIG_CODES = new Set([-32003, -32008, -32010, -32011]);

/** Sentences only where one code means several things. */
const SAYS_METHOD_MISSING =
  /method .{0,80}(not (found|supported|available|allowed|whitelisted|enabled)|does not exist|unsupported)|unsupported method|(module|namespace) .{0,40}(disabled|not (enabled|available|supported))/i;
const SAYS_NO_TRACER =
  /tracer.{0,40}not (found|supported|defined)|unknown tracer|unsupported tracer|is not defined/i;
const SAYS_RATE =
  /rate.?limit|too many requests|request(s)? (rate|limit)|requests? per second|\d+\/(sec|second)|compute units|quota|throughput/i;
const SAYS_TOO_BIG =
  /too (big|large|many calls)|oversized|batch.{0,40}(limit|size|exceed|max)|exceeds.{0,40}(size|limit)|response size/i;
const SAYS_NO_BATCH = /batch.{0,40}(not (supported|allowed|enabled)|disabled)/i;
const SAYS_TIMEOUT = /time[d]?.?out|deadline exceeded/i;

/** A JSON-RPC error object, as far as it can be trusted. */
export function readRpcError(error: unknown): { code: number; message: string } {
  if (typeof error === 'string') return { code: 0, message: error };
  if (typeof error !== 'object' || error === null) return { code: 0, message: JSON.stringify(error) ?? '' };
  const code = 'code' in error ? Number(error.code) : 0;
  const message =
    'message' in error && typeof error.message === 'string' ? error.message : JSON.stringify(error);
  return { code: Number.isFinite(code) ? code : 0, message };
}

/** Classifies a JSON-RPC error; `calls` is how many calls shared the request. */
export function rpcFault(error: unknown, asked: Asked, calls: number): Fault {
  const { code, message } = readRpcError(error);
  const happened = `answered error ${code} "${asked.label.quote(message)}"`;
  const data = { rpcCode: code };
  const fewer = calls > 1 ? 'shrink' : 'elsewhere';

  if (code === -32601 || code === -32004) {
    return makeFault(asked, 'NODE_METHOD_MISSING', happened, 'elsewhere', { data });
  }
  if (calls > 1 && SAYS_NO_BATCH.test(message)) {
    return makeFault(asked, 'NODE_ERROR', happened, 'shrink', { data });
  }
  if (
    TOO_BIG_CODES.has(code) ||
    (RATE_CODES.has(code) && SAYS_TOO_BIG.test(message) && !SAYS_RATE.test(message))
  ) {
    return makeFault(asked, 'NODE_ANSWER_TOO_LARGE', happened, fewer, { data });
  }
  if (RATE_CODES.has(code)) {
    return makeFault(asked, 'NODE_RATE_LIMITED', happened, calls > 1 ? 'shrink' : 'here', {
      data,
      hint: 'Set requestsPerSecond for it in the networks file.',
    });
  }
  if (code === -32002) {
    return makeFault(asked, 'NODE_TIMEOUT', happened, calls > 1 ? 'shrink' : 'here', { data });
  }
  if (SAYS_METHOD_MISSING.test(message)) {
    return makeFault(asked, 'NODE_METHOD_MISSING', happened, 'elsewhere', { data });
  }
  if (code === -32602 || SAYS_NO_TRACER.test(message)) {
    return makeFault(asked, 'NODE_ERROR', happened, 'elsewhere', { data, refusesParams: true });
  }
  if (SAYS_RATE.test(message)) {
    return makeFault(asked, 'NODE_RATE_LIMITED', happened, calls > 1 ? 'shrink' : 'here', { data });
  }
  if (SAYS_TOO_BIG.test(message)) return makeFault(asked, 'NODE_ANSWER_TOO_LARGE', happened, fewer, { data });
  if (SAYS_TIMEOUT.test(message)) {
    return makeFault(asked, 'NODE_TIMEOUT', happened, calls > 1 ? 'shrink' : 'here', { data });
  }
  if (code === -32600 || code === -32700) return makeFault(asked, 'NODE_ERROR', happened, fewer, { data });
  // -32603 and what nodes make of it: an internal fault may pass, so once more here before anybody else is asked.
  return makeFault(asked, 'NODE_ERROR', happened, code === -32603 ? 'here' : 'elsewhere', { data });
}
