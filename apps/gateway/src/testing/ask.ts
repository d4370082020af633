import { type Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  text: string;
  /** The body as JSON. */
  json(): Record<string, unknown>;
}

interface AskOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  /** Keeps connections open; default: one connection for each request. */
  agent?: Agent;
}

/** Sends a request with its path as written, without normalising dots and slashes. */
export function ask(base: string, path: string, options: AskOptions = {}): Promise<Answer> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        hostname,
        port,
        path,
        method: options.method ?? 'GET',
        headers: options.headers ?? {},
        agent: options.agent ?? false,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const body = Buffer.concat(chunks);
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body,
            text: body.toString(),
            json: () => JSON.parse(body.toString()) as Record<string, unknown>,
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(options.body);
  });
}

/** Posts JSON: a value, or a text as it is. */
export function post(base: string, path: string, body: unknown, options: AskOptions = {}): Promise<Answer> {
  return ask(base, path, {
    method: 'POST',
    ...options,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...options.headers },
  });
}

/** Calls a method of JSON-RPC. */
export function callRpc(base: string, path: string, method: string, params: unknown): Promise<Answer> {
  return post(base, path, { jsonrpc: '2.0', id: 1, method, params });
}
