import { PackhouseError } from '@packhouse/runtime';
import { Client } from 'undici';

type JsonRpcCall = readonly [method: string, ...params: unknown[]];

/** JSON-RPC to the node of the demo chain: no retries, no limits. */
export interface JsonRpc {
  /** Throws NODE_UNREACHABLE or NODE_ERROR. */
  call(method: string, ...params: unknown[]): Promise<unknown>;
  /** Results in the order of the calls. Throws if any call failed. */
  batch(calls: readonly JsonRpcCall[]): Promise<unknown[]>;
  /** Ends the connection and all running calls; safe to call twice. */
  close(): Promise<void>;
}

interface Answer {
  id: number;
  result?: unknown;
  error?: { code: number; message: string };
}

/** Opens one connection to `url`. */
export function createJsonRpc(url: string): JsonRpc {
  const client = new Client(url);

  const post = async (body: unknown, label: string): Promise<unknown> => {
    try {
      const response = await client.request({
        method: 'POST',
        path: '/',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return await response.body.json();
    } catch (cause) {
      throw new PackhouseError({
        code: 'NODE_UNREACHABLE',
        message: `The demo chain's node did not answer ${label}: ${(cause as Error).message}`,
        cause,
      });
    }
  };

  const batch = async (calls: readonly JsonRpcCall[]): Promise<unknown[]> => {
    if (calls.length === 0) return [];
    const body = calls.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params }));
    const answers = (await post(body, `a batch of ${calls.length} calls`)) as Answer[];
    const results: unknown[] = [];
    for (const answer of answers) results[answer.id] = getResult(answer, calls[answer.id]![0]);
    return results;
  };

  return {
    batch,
    call: async (method, ...params) =>
      getResult((await post({ jsonrpc: '2.0', id: 0, method, params }, method)) as Answer, method),
    close: async () => {
      if (!client.destroyed) await client.destroy();
    },
  };
}

function getResult(answer: Answer, method: string): unknown {
  if (answer.error === undefined) return answer.result;
  throw new PackhouseError({
    code: 'NODE_ERROR',
    message: `The demo chain's node refused ${method}: ${answer.error.message}`,
    data: { method, rpcCode: answer.error.code },
  });
}
