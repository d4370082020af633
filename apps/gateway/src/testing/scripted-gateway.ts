import type { IncomingHttpHeaders } from 'node:http';
import { parseNetworks } from '@packhouse/networks';
import type { GatewayOptions } from '../gateway-options.js';
import { ask } from './ask.js';
import { type ScriptedNode, startScriptedNode } from './scripted-node.js';
import { startTestGateway, type TestGateway } from './test-gateway.js';

/** The answer to one call. */
interface CallAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  result?: unknown;
  error?: { code: number; message: string; data?: Record<string, unknown> };
}

/** A gateway whose networks all have the same scripted nodes. */
export interface ScriptedGateway {
  at: TestGateway;
  /** The only node, or the first. */
  node: ScriptedNode;
  nodes: readonly ScriptedNode[];
  /** A key without limits. */
  key: string;
  /** Calls a network's JSON-RPC address, with `key` or another; `null`: without a key. */
  call(network: string, method: string, params: unknown, as?: string | null): Promise<CallAnswer>;
  /** Parameters of the calls of a method that a node got, in order. */
  asked(method: string, node?: ScriptedNode): unknown[][];
  close(): Promise<void>;
}

/** Starts it; `networks` are the networks' fields but `upstreams`, as YAML without braces: `id: main, family: evm, chainId: 1`. */
export async function startScriptedGateway(
  networks: readonly string[],
  { nodes: count = 1, ...options }: Partial<GatewayOptions> & { nodes?: number } = {},
): Promise<ScriptedGateway> {
  const nodes = await Promise.all(Array.from({ length: count }, () => startScriptedNode()));
  const upstreams = nodes.map(
    ({ url }, index) => `{name: node-${index + 1}, url: '${url}', priority: ${index + 1}}`,
  );
  const lines = networks.map((fields) => `  - {${fields}, upstreams: [${upstreams.join(', ')}]}`);
  const parsed = parseNetworks(`networks:\n${lines.join('\n')}`, { source: 'test', env: {} });
  const at = await startTestGateway({ ...options, networks: parsed });
  const { key } = await at.makeKey();
  const node = nodes[0] as ScriptedNode;
  return {
    ...{ at, node, nodes, key },
    async call(network, method, params, as = key) {
      const { status, headers, json } = await ask(at.url, `/${network}/v1/${as ?? ''}`, {
        method: 'POST',
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        headers: { 'content-type': 'application/json' },
      });
      const { result, error } = json() as Pick<CallAnswer, 'result' | 'error'>;
      return { status, headers, ...(error === undefined ? { result } : { error }) };
    },
    asked: (method, of = node) => of.calls.flatMap((call) => (call.method === method ? [call.params] : [])),
    async close() {
      await at.close();
      await Promise.all(nodes.map((each) => each.close()));
    },
  };
}
