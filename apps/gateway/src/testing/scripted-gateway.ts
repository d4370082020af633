import type { IncomingHttpHeaders } from 'node:http';
import { parseNetworks } from '@packhouse/networks';
import type { GatewayOptions } from '../gateway-options.js';
import { callRpc } from './ask.js';
import { type ScriptedNode, startScriptedNode } from './scripted-node.js';
import { startTestGateway } from './test-gateway.js';

/** The answer to one call. */
interface CallAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  result?: unknown;
  error?: { code: number; message: string; data?: Record<string, unknown> };
}

/** A gateway whose networks all have the same scripted nodes. */
export type ScriptedGateway = Awaited<ReturnType<typeof startScriptedGateway>>;

/** Starts it; `networks` are the networks' fields but `upstreams`, as YAML without braces: `id: main, family: evm, chainId: 1`. */
export async function startScriptedGateway(
  networks: readonly string[],
  { nodes: count = 1, ...options }: Partial<GatewayOptions> & { nodes?: number } = {},
) {
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
    at,
    /** The only node, or the first. */
    node,
    nodes,
    /** A key without limits. */
    key,
    /** Calls a network's JSON-RPC address, with `key` or another; `null`: without a key. */
    async call(
      network: string,
      method: string,
      params: unknown,
      as: string | null = key,
    ): Promise<CallAnswer> {
      const { status, headers, json } = await callRpc(at.url, `/${network}/v1/${as ?? ''}`, method, params);
      const { result, error } = json() as Pick<CallAnswer, 'result' | 'error'>;
      return { status, headers, ...(error === undefined ? { result } : { error }) };
    },
    /** Parameters of the calls of a method that a node got, in order. */
    asked: (method: string, of: ScriptedNode = node): unknown[][] =>
      of.calls.flatMap((call) => (call.method === method ? [call.params] : [])),
    async close(): Promise<void> {
      await at.close();
      await Promise.all(nodes.map((each) => each.close()));
    },
  };
}
