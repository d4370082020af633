/** One JSON-RPC response as parsed. */
export interface RpcResponse {
  jsonrpc: string;
  id: unknown;
  result?: unknown;
  error?: { code: number; message: string };
}

/** Posts JSON and returns the HTTP response. */
export function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** Calls one method and returns the whole response object. */
export async function request(url: string, method: string, params: unknown[] = []): Promise<RpcResponse> {
  const response = await post(url, { jsonrpc: '2.0', id: 7, method, params });
  return (await response.json()) as RpcResponse;
}

/** Calls one method and returns its result. */
export async function call<T = unknown>(url: string, method: string, params: unknown[] = []): Promise<T> {
  const { result, error } = await request(url, method, params);
  if (error !== undefined) throw new Error(`${method}: ${error.code} ${error.message}`);
  return result as T;
}

/** A block number as a quantity. */
export function quantity(number: number): string {
  return `0x${number.toString(16)}`;
}
