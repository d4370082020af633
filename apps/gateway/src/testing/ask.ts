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
        ...{ hostname, port, path, method: options.method ?? 'GET' },
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
