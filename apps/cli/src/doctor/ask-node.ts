import type { Upstream } from '@packhouse/networks';
import type { NodeLabel } from '@packhouse/node-rpc';
import type { Clock } from '@packhouse/runtime';
import { Pool } from 'undici';

/** What came of one question; words of nodes have their credentials taken out. */
export type NodeAnswer =
  | { kind: 'result'; value: unknown; ms: number }
  | { kind: 'error'; code: number; message: string }
  /** No JSON-RPC came: a clause about the node, e.g. `did not answer within 5000 ms`. */
  | { kind: 'failed'; what: string };

/** One node, asked a question at a time or several together. */
export interface NodeAsk {
  call(method: string, params: readonly unknown[]): Promise<NodeAnswer>;
  /** The same question so many times in one request: how many answers came, or why none did. */
  batch(size: number, method: string): Promise<number | null>;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 33_554_432;
/** Questions under way at a time. */
const CONNECTIONS = 4;

/** Opens connections to a node; its own ceiling of requests a second is kept. */
export function createNodeAsk(parts: {
  upstream: Upstream;
  label: NodeLabel;
  clock: Clock;
  timeoutMs: number;
  signal: AbortSignal;
}): NodeAsk {
  const { clock, label, signal, timeoutMs, upstream } = parts;
  const url = new URL(upstream.url);
  const pool = new Pool(url.origin, {
    connections: Math.min(CONNECTIONS, upstream.maxInFlight),
    connect: { timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' };
  if (url.username !== '' || url.password !== '') {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  for (const [name, value] of Object.entries(upstream.headers)) headers[name.toLowerCase()] = value;

  let free = 0;
  const turn = async (weight: number): Promise<void> => {
    if (upstream.requestsPerSecond === undefined) return;
    const now = clock.now();
    const at = Math.max(now, free);
    free = at + (weight * 1_000) / upstream.requestsPerSecond;
    if (at > now) await clock.sleep(at - now, signal);
  };

  const send = async (body: unknown, weight: number): Promise<Sent> => {
    await turn(weight);
    const startedAt = performance.now();
    const late = AbortSignal.timeout(timeoutMs);
    try {
      const response = await pool.request({
        ...{ path: `${url.pathname}${url.search}`, method: 'POST', headers },
        body: JSON.stringify(body),
        signal: AbortSignal.any([signal, late]),
      });
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of response.body as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > MAX_BODY_BYTES) return { failed: 'answered with more than 32 MiB' };
      }
      const text = Buffer.concat(chunks).toString('utf8');
      return { status: response.statusCode, text, ms: performance.now() - startedAt };
    } catch (error) {
      if (signal.aborted && !late.aborted) throw signal.reason;
      return { failed: late.aborted ? `did not answer within ${timeoutMs} ms` : whyUnreachable(error) };
    }
  };

  return {
    async call(method, params) {
      const sent = await send({ jsonrpc: '2.0', id: 1, method, params }, 1);
      if ('failed' in sent) return { kind: 'failed', what: sent.failed };
      const answer = read(sent.text);
      if (answer === null) return { kind: 'failed', what: nonsense(sent, label) };
      if ('error' in answer) return { kind: 'error', ...errorOf(answer.error, label) };
      return { kind: 'result', value: answer.result, ms: sent.ms };
    },
    async batch(size, method) {
      const calls = Array.from({ length: size }, (_, at) => ({
        ...{ jsonrpc: '2.0', id: at + 1, method, params: [] },
      }));
      const sent = await send(calls, size);
      if ('failed' in sent) return null;
      try {
        const answers = JSON.parse(sent.text) as unknown;
        if (!Array.isArray(answers)) return null;
        return answers.filter((one) => typeof one === 'object' && one !== null && 'result' in one).length;
      } catch {
        return null;
      }
    },
    close: () => pool.destroy(),
  };
}

type Sent = { status: number; text: string; ms: number } | { failed: string };

function read(text: string): { result: unknown } | { error: unknown } | null {
  try {
    const answer = JSON.parse(text) as unknown;
    if (typeof answer !== 'object' || answer === null) return null;
    if ('error' in answer && answer.error !== null) return { error: answer.error };
    return 'result' in answer ? { result: answer.result } : null;
  } catch {
    return null;
  }
}

function errorOf(error: unknown, label: NodeLabel): { code: number; message: string } {
  const { code, message } = (typeof error === 'object' ? error : {}) as { code?: unknown; message?: unknown };
  return {
    code: typeof code === 'number' ? code : 0,
    message: label.quote(typeof message === 'string' ? message : ''),
  };
}

function nonsense({ status, text }: { status: number; text: string }, label: NodeLabel): string {
  if (status === 401 || status === 403) return `answered HTTP ${status}: it does not take these credentials`;
  if (status === 429) return 'answered HTTP 429: it was asked too often';
  const html = /^\s*<(!doctype|html)/i.test(text);
  const said = html ? 'an HTML page' : text.trim() === '' ? 'nothing' : `"${label.quote(text.slice(0, 80))}"`;
  return `answered HTTP ${status} with ${said} where JSON-RPC was expected`;
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'refuses connections: nothing listens at its address',
  ENOTFOUND: 'cannot be found: its host name does not resolve',
  EAI_AGAIN: 'cannot be found: name resolution does not work',
  ECONNRESET: 'closed the connection in the middle',
  UND_ERR_SOCKET: 'closed the connection in the middle',
  UND_ERR_CONNECT_TIMEOUT: 'cannot be connected to in time',
  UND_ERR_HEADERS_TIMEOUT: 'did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'stopped in the middle of an answer',
};

/** Only codes are told: messages of sockets hold addresses. */
function whyUnreachable(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  const name = typeof code === 'string' ? code : typeof cause?.code === 'string' ? cause.code : 'unknown';
  return REASONS[name] ?? `cannot be reached (${name})`;
}
