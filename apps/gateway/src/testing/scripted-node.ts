import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface ScriptedCall {
  method: string;
  params: unknown[];
  /** The request body as received. */
  body: string;
  headers: IncomingHttpHeaders;
}

/**
 * A scripted answer: a result, an error, or raw bytes with a status, where an id of 1 is replaced by the call's; `hang`
 * never answers, `reset` disconnects.
 */
export type ScriptedAnswer =
  | { result: unknown }
  | { error: { code: number; message: string; data?: unknown } }
  | { status: number; body: string; headers?: Record<string, string> }
  | 'hang'
  | 'reset';

type Script = (call: ScriptedCall) => ScriptedAnswer | Promise<ScriptedAnswer>;

/** A node with the answers of a test. */
export type ScriptedNode = Awaited<ReturnType<typeof startScriptedNode>>;

interface Sent {
  id: unknown;
  method: string;
  params: unknown[];
}

/** Starts a node without answers. */
export async function startScriptedNode() {
  const calls: ScriptedCall[] = [];
  let script: Script = () => ({
    error: { code: -32601, message: 'the method does not exist' },
  });
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const parsed = JSON.parse(body) as Sent | Sent[];
    const sent = [parsed].flat();
    // A call of a batch is seen as if it had come alone.
    const toCall = ({ method, params }: Sent): ScriptedCall => ({
      method,
      params,
      body: Array.isArray(parsed) ? JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) : body,
      headers: request.headers,
    });
    const received = sent.map(toCall);
    calls.push(...received);
    const answers = await Promise.all(received.map(script));
    if (answers.includes('hang')) return;
    if (answers.includes('reset')) {
      request.socket.destroy();
      return;
    }
    const envelopes: object[] = [];
    for (const [at, answer] of answers.entries()) {
      if (typeof answer === 'string') continue;
      if ('status' in answer) {
        const body = answer.body.replace('"id":1,', `"id":${JSON.stringify(sent[at]?.id)},`);
        response.writeHead(answer.status, answer.headers).end(body);
        return;
      }
      envelopes.push({ jsonrpc: '2.0', id: sent[at]?.id, ...answer });
    }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(Array.isArray(parsed) ? envelopes : envelopes[0]));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Received calls, in order. */
    calls,
    /** Sets the function that answers from now on; it may wait. */
    answer(next: Script): void {
      script = next;
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
