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
    rpc: (method, params = []) => local.callNode(url, method, params),
    stop,
  };
}
