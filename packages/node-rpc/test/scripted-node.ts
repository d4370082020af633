import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** One received call. */
export interface SeenCall {
  id: number;
  method: string;
  params: unknown[];
}

/** One received HTTP request. */
interface SeenRequest {
  batch: boolean;
  calls: SeenCall[];
  headers: IncomingMessage['headers'];
  url: string;
}

/** The result of a call, or an error to answer with. */
export type Handler = (call: SeenCall) => unknown;

/** Thrown by a handler to answer with a JSON-RPC error. */
export class RpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Takes over a request; returns false to leave it to the usual answer. */
type Intercept = (
  request: SeenRequest,
  response: ServerResponse,
  raw: IncomingMessage,
) => boolean | Promise<boolean>;

export interface ScriptedNode {
  url: string;
  requests: SeenRequest[];
  /** HTTP requests that are being answered. */
  inFlight: number;
  mostInFlight: number;
  handler: Handler;
  intercept: Intercept | null;
  /** Resolves once `condition` holds, checked after every received request. */
  when(condition: () => boolean): Promise<void>;
  /** Open connections. */
  sockets: Set<Socket>;
  close(): Promise<void>;
}

/** Starts a JSON-RPC node on a free port of 127.0.0.1 that answers as scripted. */
export async function startScriptedNode(handler: Handler): Promise<ScriptedNode> {
  const waiting = new Set<() => void>();
  const node: ScriptedNode = {
    url: '',
    requests: [],
    inFlight: 0,
    mostInFlight: 0,
    handler,
    intercept: null,
    sockets: new Set(),
    when: (condition) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!condition()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    close: () =>
      new Promise((resolve) => {
        for (const socket of node.sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
  const notify = (): void => {
    for (const look of [...waiting]) look();
  };
  const server: Server = createServer(async (raw, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of raw) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as SeenCall | SeenCall[];
    const request: SeenRequest = {
      batch: Array.isArray(body),
      calls: Array.isArray(body) ? body : [body],
      headers: raw.headers,
      url: raw.url ?? '',
    };
    node.requests.push(request);
    node.inFlight += 1;
    node.mostInFlight = Math.max(node.mostInFlight, node.inFlight);
    response.on('close', () => {
      node.inFlight -= 1;
      notify();
    });
    notify();
    if (node.intercept !== null && (await node.intercept(request, response, raw))) return;
    answer(request, response, node.handler);
  });
  server.on('connection', (socket) => {
    node.sockets.add(socket);
    socket.on('close', () => {
      node.sockets.delete(socket);
      notify();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  node.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return node;
}

/** The text of an answer with the id of the request instead of its first `"id":1`. */
export function withId(text: string | Buffer, { calls }: Pick<SeenRequest, 'calls'>): Buffer {
  const bytes = Buffer.from(text as string);
  const at = bytes.indexOf('"id":1');
  if (at === -1) return bytes;
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(`"id":${calls[0]?.id}`), bytes.subarray(at + 6)]);
}

/** The envelopes that answer a request. */
export function envelopes(request: SeenRequest, handler: Handler): object[] {
  return request.calls.map((call) => {
    try {
      return { jsonrpc: '2.0', id: call.id, result: handler(call) };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return { jsonrpc: '2.0', id: call.id, error: { code: error.code, message: error.message } };
    }
  });
}

/** Answers a request as a proper node does. */
export function answer(request: SeenRequest, response: ServerResponse, handler: Handler): void {
  const all = envelopes(request, handler);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(request.batch ? all : all[0]));
}
