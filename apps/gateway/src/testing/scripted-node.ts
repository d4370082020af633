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

/** A scripted answer: a result, an error, or raw bytes with a status; `hang` never answers, `reset` disconnects. */
export type ScriptedAnswer =
  | { result: unknown }
  | { error: { code: number; message: string; data?: unknown } }
  | { status: number; body: string; headers?: Record<string, string> }
  | 'hang'
  | 'reset';

type Script = (call: ScriptedCall) => ScriptedAnswer | Promise<ScriptedAnswer>;

/** A node with the answers of a test. */
export type ScriptedNode = Awaited<ReturnType<typeof startScriptedNode>>;

/** Starts a node without answers. */
export async function startScriptedNode() {
  const calls: ScriptedCall[] = [];
  let script: Script = () => ({
    error: { code: -32601, message: 'the method does not exist' },
  });
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { method, params } = JSON.parse(body) as { method: string; params: unknown[] };
    const call = { method, params, body, headers: request.headers };
    calls.push(call);
    const answer = await script(call);
    if (answer === 'hang') return;
    if (answer === 'reset') {
      request.socket.destroy();
      return;
    }
    if ('status' in answer) {
      response.writeHead(answer.status, answer.headers).end(answer.body);
      return;
    }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...answer }));
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
