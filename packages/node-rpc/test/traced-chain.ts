import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '@packhouse/local';

/** Calls a method of a node. */
export type Rpc = <T>(method: string, params: unknown[]) => Promise<T>;

/** One block, and what each trace method of its node says of it. */
export interface TracedBlock {
  block: { number: string; hash: string };
  callTracer: unknown;
  flatCallTracer: unknown;
  trace_block: unknown;
}

/** A chain as one node tells it. */
export interface TracedChain {
  client: string;
  chainId: string;
  blocks: TracedBlock[];
}

export function rpcOf(url: string): Rpc {
  return async (method, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const answer = (await response.json()) as { result?: unknown; error?: unknown };
    if (answer.error !== undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.result as never;
  };
}

/** Reads all blocks that have transactions, with the traces of each method that the node offers. */
export async function readTracedChain(rpc: Rpc): Promise<TracedChain> {
  const head = Number(await rpc('eth_blockNumber', []));
  const blocks: TracedBlock[] = [];
  for (let number = 1; number <= head; number++) {
    const quantity = `0x${number.toString(16)}`;
    const block = await rpc<TracedBlock['block']>('eth_getBlockByNumber', [quantity, true]);
    const trace = (tracer: string, tracerConfig: object) =>
      rpc('debug_traceBlockByHash', [block.hash, { tracer, tracerConfig }]);
    blocks.push({
      block,
      callTracer: await trace('callTracer', {}),
      flatCallTracer: await trace('flatCallTracer', { includePrecompiles: true }),
      trace_block: await rpc('trace_block', [quantity]).catch(() => null),
    });
  }
  return { client: await rpc('web3_clientVersion', []), chainId: await rpc('eth_chainId', []), blocks };
}

/** Whether there is a geth on PATH. */
export function gethInstalled(): boolean {
  try {
    execFileSync('geth', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Starts the geth on PATH with a chain of its own in memory, which makes a block for each transaction. */
export async function startGeth(): Promise<{ rpc: Rpc; stop(): Promise<void> }> {
  const port = await freePort();
  const args = [
    '--dev',
    '--http',
    '--http.port',
    String(port),
    '--http.api',
    'eth,debug,web3',
    '--ipcdisable',
  ];
  const child = spawn('geth', [...args, '--verbosity', '1'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const rpc = rpcOf(`http://127.0.0.1:${port}`);
  while ((await rpc('eth_chainId', []).catch(() => null)) === null) {
    if (child.exitCode !== null) throw new Error(`geth ended with ${child.exitCode}`);
    await delay(50);
  }
  return {
    rpc,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
