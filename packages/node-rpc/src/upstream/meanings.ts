/** The meaning of an answer, or of the lack of one. */
export type Meaning =
  /** The node asks for fewer requests. */
  | 'slow-down'
  /** The account behind the operator's key is used up or not paid for. */
  | 'plan'
  /** The operator's key or password is not accepted. */
  | 'refused'
  /** The node does not have it yet, or temporarily not. */
  | 'not-here'
  /** The node has deleted it. */
  | 'pruned'
  | 'method-missing'
  /** Wrong parameters, or a form of them that this node does not know. */
  | 'params-refused'
  | 'too-large'
  /** A range of blocks is too wide, or too much was found in it: a smaller range may work. */
  | 'range-refused'
  | 'no-batch'
  | 'timed-out'
  | 'broken'
  | 'unreachable'
  /** Every node would return this. */
  | 'callers-fault';

/**
 * The remedy: the same node again after a pause (`here`), another node (`elsewhere`), fewer calls in a request
 * (`shrink`), nothing (`none`). A caller that cannot wait asks another node instead of the same one.
 */
type Retry = 'here' | 'elsewhere' | 'shrink' | 'none';

export interface Verdict {
  meaning: Meaning;
  retry: Retry;
  /** A batch may succeed in smaller parts. */
  shrinks: boolean;
  /** Counts towards resting the node; `alone`: unless several calls shared the request. */
  weighs: boolean | 'alone';
  /** How long the node is asked last if it does not set a time itself, in milliseconds; doubled while that goes on. */
  pauseMs: number;
  /** Of the row that decided. */
  source: string;
}

export const MEANINGS: Readonly<Record<Meaning, Omit<Verdict, 'meaning' | 'source'>>> = {
  'slow-down': { retry: 'here', shrinks: true, weighs: false, pauseMs: 1_000 },
  plan: { retry: 'elsewhere', shrinks: false, weighs: true, pauseMs: 60_000 },
  refused: { retry: 'elsewhere', shrinks: false, weighs: true, pauseMs: 0 },
  'not-here': { retry: 'elsewhere', shrinks: false, weighs: false, pauseMs: 0 },
  pruned: { retry: 'elsewhere', shrinks: false, weighs: false, pauseMs: 0 },
  'method-missing': { retry: 'elsewhere', shrinks: false, weighs: false, pauseMs: 0 },
  'params-refused': { retry: 'none', shrinks: false, weighs: false, pauseMs: 0 },
  'too-large': { retry: 'elsewhere', shrinks: true, weighs: false, pauseMs: 0 },
  'range-refused': { retry: 'none', shrinks: false, weighs: false, pauseMs: 0 },
  'no-batch': { retry: 'shrink', shrinks: true, weighs: false, pauseMs: 0 },
  'timed-out': { retry: 'here', shrinks: true, weighs: false, pauseMs: 0 },
  broken: { retry: 'here', shrinks: true, weighs: true, pauseMs: 0 },
  unreachable: { retry: 'here', shrinks: false, weighs: true, pauseMs: 0 },
  'callers-fault': { retry: 'none', shrinks: false, weighs: false, pauseMs: 0 },
};

/** Differences from MEANINGS, and the source of the row. */
export interface Row extends Partial<Omit<Verdict, 'meaning' | 'source'>> {
  meaning: Meaning;
  /** Node source, specification or provider documentation. */
  source: string;
}

/** A status about the node or its operator, not about the call. */
interface StatusRow extends Row {
  from: number;
  /** Default: `from`. */
  to?: number;
  /** Counts with any body. */
  final?: true;
}

export const STATUS_ROWS: readonly StatusRow[] = [
  {
    from: 300,
    to: 399,
    meaning: 'broken',
    retry: 'elsewhere',
    shrinks: false,
    source: 'RFC 9110, 15.4: redirects are not followed',
  },
  { from: 401, final: true, meaning: 'refused', source: 'RFC 9110, 15.5.2' },
  { from: 402, final: true, meaning: 'plan', source: 'RFC 9110, 15.5.3; eRPC error_normalizer.go: billing' },
  { from: 403, meaning: 'refused', source: 'RFC 9110, 15.5.4' },
  { from: 407, final: true, meaning: 'refused', source: 'RFC 9110, 15.5.8' },
  { from: 408, meaning: 'timed-out', weighs: true, source: 'RFC 9110, 15.5.9' },
  { from: 413, meaning: 'too-large', source: 'RFC 9110, 15.5.14; geth rpc/http.go: request too large' },
  { from: 429, final: true, meaning: 'slow-down', source: 'RFC 6585, 4' },
  { from: 502, meaning: 'broken', source: 'RFC 9110, 15.6.3: a proxy before a node that is gone' },
  {
    from: 503,
    meaning: 'broken',
    pauseMs: 1_000,
    source: 'RFC 9110, 15.6.4: overloaded or down, for as long as Retry-After says',
  },
  { from: 504, meaning: 'timed-out', weighs: true, source: 'RFC 9110, 15.6.5' },
  {
    from: 500,
    to: 599,
    meaning: 'broken',
    weighs: 'alone',
    source: 'RFC 9110, 15.6; nodes that take no batches use any of them',
  },
];

/** No answer: the codes of the system and of undici, in words; other codes are `unreachable`. */
interface SocketRow extends Row {
  /** The middle of a sentence about the node, by code; `HPE_` stands for all that begin so. */
  words: Readonly<Record<string, string>>;
  /** The request did not reach the node: any call may be sent again. */
  unsent?: true;
}

export const SOCKET_ROWS: readonly SocketRow[] = [
  {
    meaning: 'unreachable',
    unsent: true,
    source: 'connect(2), getaddrinfo(3)',
    words: {
      ECONNREFUSED: 'refused the connection (connection refused)',
      ENOTFOUND: 'could not be found (no such host)',
      EAI_AGAIN: 'could not be found (name lookup failed)',
      EHOSTUNREACH: 'could not be reached (no route to host)',
      ENETUNREACH: 'could not be reached (network unreachable)',
    },
  },
  {
    meaning: 'unreachable',
    source: 'connect(2), Node.js tls',
    words: {
      EADDRNOTAVAIL: 'could not be reached (no local address left)',
      CERT_HAS_EXPIRED: 'has a certificate that has expired',
      DEPTH_ZERO_SELF_SIGNED_CERT: 'has a self-signed certificate',
      SELF_SIGNED_CERT_IN_CHAIN: 'has a certificate of an unknown authority',
      UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'has a certificate of an unknown authority',
      UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'has a certificate of an unknown authority',
      ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name',
    },
  },
  {
    meaning: 'unreachable',
    // A batch that is too large for a node or its proxy often ends like this.
    shrinks: true,
    source: 'read(2), write(2), undici errors',
    words: {
      ECONNRESET: 'reset the connection (connection reset)',
      EPIPE: 'closed the connection',
      UND_ERR_SOCKET: 'closed the connection before the answer was complete',
      UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'closed the connection before the answer was complete',
    },
  },
  {
    meaning: 'timed-out',
    weighs: true,
    unsent: true,
    source: 'connect(2), undici errors',
    words: {
      UND_ERR_CONNECT_TIMEOUT: 'could not be connected to in time',
      ETIMEDOUT: 'could not be connected to in time',
    },
  },
  {
    meaning: 'timed-out',
    weighs: true,
    source: 'undici errors, upstream/http.ts',
    words: {
      UND_ERR_HEADERS_TIMEOUT: 'did not begin to answer in time',
      UND_ERR_BODY_TIMEOUT: 'stopped in the middle of its answer',
      PACKHOUSE_BODY_DEADLINE: 'sent its answer too slowly',
    },
  },
  {
    meaning: 'broken',
    shrinks: false,
    source: 'llhttp, Node.js zlib',
    words: {
      HPE_: 'answered with something that is not HTTP',
      Z_DATA_ERROR: 'answered with damaged gzip',
      Z_BUF_ERROR: 'answered with damaged gzip',
    },
  },
];
