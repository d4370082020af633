import type { Upstream as Configured } from '@packhouse/networks';
import { type Clock, openScope, type PackhouseError } from '@packhouse/runtime';
import { createRateWindow } from '../spending/spending.js';
import { type Fault, makeFault, toTransportFault } from '../upstream/fault.js';
import { createHttp } from '../upstream/http.js';
import { createNodeLabel } from '../upstream/label.js';
import { readHttpAnswer, writeRequest } from './answers.js';
import { type Answer, type Call, failAll, toAsked } from './call.js';

/** The outcome of one call; credentials are removed from the upstream's messages. */
export type ClientAnswer =
  | { kind: 'result'; value: unknown; ms: number }
  /** A JSON-RPC error. `what` is a clause about the upstream, e.g. `refused the credentials with HTTP 401`. */
  | ({ kind: 'error'; code: number } & Failure)
  /** The answer was no JSON-RPC. */
  | ({ kind: 'failed' } & Failure);

interface Failure {
  what: string;
  error: PackhouseError;
  /** The wait before the same call may succeed here, in milliseconds; absent if it would fail again. */
  retryAfterMs?: number;
}

/** One upstream, asked one call at a time without failover: for commands that examine it. */
export type UpstreamClient = ReturnType<typeof createUpstreamClient>;

/** Calls in flight at most. */
const CONNECTIONS = 4;

/** Opens the connections; keeps the upstream's limit of requests a second. Calls reject only when aborted. */
export function createUpstreamClient(parts: {
  upstream: Pick<Configured, 'name' | 'url' | 'ws' | 'headers' | 'maxInFlight' | 'requestsPerSecond'>;
  clock: Clock;
  /** For one answer, in milliseconds. */
  timeoutMs: number;
  /** Of one answer; default 32 MiB. Larger ones are refused. */
  maxBodyBytes?: number;
  signal: AbortSignal;
}) {
  const { clock, maxBodyBytes = 33_554_432, signal, timeoutMs, upstream } = parts;
  const label = createNodeLabel(upstream);
  const http = createHttp({
    upstream,
    timeoutMs,
    connections: Math.min(CONNECTIONS, upstream.maxInFlight),
    connectTimeoutMs: timeoutMs,
  });
  const { requestsPerSecond: perSecond } = upstream;
  const rate = perSecond === undefined ? undefined : createRateWindow({ perSecond, clock });

  const send = async (calls: readonly Call[]): Promise<{ answers: Answer[]; ms: number }> => {
    await rate?.take(calls.length, signal);
    const startedAt = performance.now();
    const late = AbortSignal.timeout(timeoutMs);
    const scope = openScope(signal, late);
    const failed = (fault: Fault) => ({ answers: failAll(calls, fault), ms: timeoutMs });
    const asked = toAsked(label, calls);
    try {
      const firstId = http.takeIds(calls.length);
      const answer = await http.post(writeRequest(calls, firstId), {
        signal: scope.signal,
        maxBytes: maxBodyBytes,
      });
      const ms = performance.now() - startedAt;
      const place = { label, scope, firstId, maxBodyBytes, timeoutMs, now: clock.now() };
      const options = { ...place, foundForeign: http.renew };
      return { answers: await readHttpAnswer(answer, calls, options), ms };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (!late.aborted) return failed(toTransportFault(error, asked, calls.length));
      return failed(makeFault(asked, 'NODE_TIMEOUT', `did not answer within ${timeoutMs} ms`, 'here'));
    } finally {
      scope.close();
    }
  };

  return {
    /** `block` is the one that the call is about, for messages. */
    async call(method: string, params: readonly unknown[], block?: number): Promise<ClientAnswer> {
      const { answers, ms } = await send([
        { method, params, weight: 1, ...(block !== undefined && { block }) },
      ]);
      const [answer] = answers as [Answer];
      if (answer.ok) return { kind: 'result', value: answer.value, ms };
      const { action, error, happened, pauseMs, retryAfterMs = pauseMs } = answer.fault;
      const failure = { what: happened, error, ...(action === 'here' && { retryAfterMs }) };
      const code = error.data.rpcCode;
      return typeof code === 'number' ? { kind: 'error', code, ...failure } : { kind: 'failed', ...failure };
    },
    /** Sends the same call that many times in one request; returns the number of results. */
    async batch(size: number, method: string): Promise<number> {
      const calls = Array.from({ length: size }, () => ({ method, params: [], weight: 1 }));
      return (await send(calls)).answers.filter(({ ok }) => ok).length;
    },
    close: http.destroy,
  };
}
