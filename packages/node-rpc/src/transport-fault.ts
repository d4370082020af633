import { type Asked, type Fault, makeFault } from './fault.js';

/** System and undici codes in plain words; anything else is quoted as it is. */
const REASONS: Record<string, string> = {
  ECONNREFUSED: 'refused the connection (connection refused)',
  ECONNRESET: 'reset the connection (connection reset)',
  EPIPE: 'closed the connection',
  UND_ERR_SOCKET: 'closed the connection before the answer was complete',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'closed the connection before the answer was complete',
  ENOTFOUND: 'could not be found (no such host)',
  EAI_AGAIN: 'could not be found (name lookup failed)',
  EHOSTUNREACH: 'could not be reached (no route to host)',
  ENETUNREACH: 'could not be reached (network unreachable)',
  EADDRNOTAVAIL: 'could not be reached (no local address left)',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'has a self-signed certificate',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name',
};

const TIMEOUTS: Record<string, string> = {
  UND_ERR_CONNECT_TIMEOUT: 'could not be connected to in time',
  ETIMEDOUT: 'could not be connected to in time',
  UND_ERR_HEADERS_TIMEOUT: 'did not begin to answer in time',
  UND_ERR_BODY_TIMEOUT: 'stopped in the middle of its answer',
  PACKHOUSE_BODY_DEADLINE: 'sent its answer too slowly',
};

/** The connection was there, and ended before the answer did. */
const CUT_OFF = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH']);

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  if (typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string') {
    return error.code;
  }
  return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : '';
}

/** Classifies what the connection threw: NODE_TIMEOUT, NODE_NOT_JSON_RPC (no HTTP at all) or NODE_UNREACHABLE. */
export function transportFault(error: unknown, asked: Asked, calls: number): Fault {
  const code = codeOf(error);
  const late = TIMEOUTS[code];
  if (late !== undefined) {
    return makeFault(asked, 'NODE_TIMEOUT', late, calls > 1 ? 'shrink' : 'here', {
      cause: error,
      weighs: true,
      hint: 'Check the node, or raise the timeout.',
    });
  }
  if (code.startsWith('HPE_')) {
    return makeFault(asked, 'NODE_NOT_JSON_RPC', 'answered with something that is not HTTP', 'here', {
      cause: error,
      weighs: true,
      hint: 'Check that the address is that of a JSON-RPC endpoint.',
    });
  }
  if (code === 'Z_DATA_ERROR' || code === 'Z_BUF_ERROR') {
    return makeFault(asked, 'NODE_NOT_JSON_RPC', 'answered with damaged gzip', 'here', {
      cause: error,
      weighs: true,
    });
  }
  // A batch that is too much for a node or its proxy often ends in a closed connection and no answer.
  const cutOff = CUT_OFF.has(code) && calls > 1;
  const words = error instanceof Error ? error.message : String(error);
  const happened = REASONS[code] ?? `could not be reached ("${asked.label.quote(words)}")`;
  return makeFault(asked, 'NODE_UNREACHABLE', happened, cutOff ? 'shrink' : 'here', {
    cause: error,
    weighs: true,
    hint: 'Check that the node runs and that its address is right.',
  });
}
