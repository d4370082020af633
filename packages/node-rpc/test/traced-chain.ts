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
