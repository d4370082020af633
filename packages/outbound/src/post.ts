import { isPackhouseError, openScope, untilAborted } from '@packhouse/runtime';
import { Agent, request } from 'undici';
import { connectPublic, createResolve, type Dial, type Resolve } from './connect-public.js';

/** How a POST ended: with a status, or without one, in one sentence for the operator. */
export type PostOutcome =
  | { status: number }
  | { failure: 'timeout' | 'unreachable' | 'forbidden'; reason: string };

/** Sends a POST; rejects only when the signal is aborted. */
export type Post = (
  url: URL,
  message: { body: string; headers: Readonly<Record<string, string>> },
  signal: AbortSignal,
) => Promise<PostOutcome>;

interface PostPolicy {
  /** Whether an address that is not public may be connected to, by http: too and on any port. Default: none. */
  allowed?: ((address: string) => boolean) | undefined;
  /** From the name to the status of the answer, in milliseconds. */
  timeoutMs: number;
  /** Default: DNS. */
  resolve?: Resolve | undefined;
  /** For tests. */
  dial?: Dial | undefined;
}

/**
 * Creates the sender. Each POST has a connection of its own, to an address that was checked: https: on the public
 * internet, or an allowed one. Redirects are not followed, and the body of the answer is not read.
 */
export function createPost({ allowed, timeoutMs, resolve = createResolve(), dial }: PostPolicy): Post {
  const connect = connectPublic({ resolve, dial, timeoutMs, allowed, secure: true });
  return async (url, { body, headers }, signal) => {
    const late = AbortSignal.timeout(timeoutMs);
    const scope = openScope(signal, late);
    const ending = scope.signal;
    const agent = new Agent({ connect, connections: 1, pipelining: 0, maxHeaderSize: 16_384 });
    const sending = request(url, {
      dispatcher: agent,
      method: 'POST',
      signal: ending,
      reset: true,
      headers,
      body,
    });
    try {
      // A question to DNS cannot be cancelled, only abandoned.
      const answer = await untilAborted(sending, ending);
      // What the receiver goes on to send ends with the connection.
      answer.body.on('error', () => undefined);
      return { status: answer.statusCode };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (isPackhouseError(error, 'ADDRESS_REFUSED')) return { failure: 'forbidden', reason: error.message };
      if (late.aborted) return { failure: 'timeout', reason: `No answer within ${timeoutMs / 1_000} s.` };
      return { failure: 'unreachable', reason: `The connection failed: ${toReason(error)}.` };
    } finally {
      scope.close();
      await agent.destroy();
    }
  };
}

/** The code of an error of sockets, TLS or HTTP; its text may have what a server sent. */
function toReason(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return String(code ?? name ?? 'unknown').slice(0, 60);
}
