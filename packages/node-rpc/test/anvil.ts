import * as local from '@packhouse/local';

/** A real Anvil with its own chain. */
export interface Anvil {
  url: string;
  rpc<T>(method: string, params?: unknown[]): Promise<T>;
  stop(): Promise<void>;
}

/** Starts an Anvil that mines only on request; throws if there is none for this machine. */
export async function startAnvil(args: string[] = []): Promise<Anvil> {
  const { url, stop } = await local.startAnvil({ args: ['--no-mining', ...args] });
  return {
    url,
    rpc: async (method, params = []) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      const answer = (await response.json()) as { result?: unknown; error?: unknown };
      if (answer.error !== undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
      return answer.result as never;
    },
    stop,
  };
}
