import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { canonicalRecord } from '@packhouse/chain';
import { callNode, gethInstalled, startAnvil, startGeth } from '@packhouse/local';
import { describe, expect, it } from 'vitest';
import { makeFailingChain } from '../../test/failing-chain.js';
import { RpcError } from '../../test/scripted-node.js';
import { collect, isFetched, testUpstream, useNodes } from '../../test/test-source.js';
import { type Rpc, readTracedChain, type TracedBlock, type TracedChain } from '../../test/traced-chain.js';

type Method = 'callTracer' | 'flatCallTracer' | 'trace_block';
type Trace = {
  type: string;
  error?: string;
  action: Record<string, unknown>;
  result?: Record<string, unknown> | null;
  traceAddress: number[];
};

const use = useNodes();

/** The canonical text of each block, read from a node that offers one method. */
async function textsBy(method: Method, { chainId, blocks }: TracedChain): Promise<string[]> {
  const byNumber = new Map(blocks.map((row) => [row.block.number, row]));
  const byHash = new Map(blocks.map((row) => [row.block.hash, row]));
  const node = await use.node(({ method: asked, params }) => {
    if (asked === 'eth_getBlockByNumber') return byNumber.get(String(params[0]))?.block ?? null;
    if (asked === 'trace_block' && method === asked) return byNumber.get(String(params[0]))?.trace_block;
    const { tracer } = (params[1] ?? {}) as { tracer?: string };
    if (asked === 'debug_traceBlockByHash' && tracer === method)
      return byHash.get(String(params[0]))?.[method];
    if (asked === 'debug_traceBlockByHash')
      throw new RpcError(-32000, `ReferenceError: ${tracer} is not defined`);
    if (asked === 'eth_chainId') return chainId;
    throw new RpcError(-32601, 'Method not found');
  });
  const { source } = use.source([testUpstream(node.url)], { changes: { chainId: Number(chainId) } });
  const range = { firstBlock: 1, lastBlock: blocks.length };
  const fetched = await collect(source.fetchBlocks(range, { receipts: false, traces: true }));
  return fetched.map((block) => {
    if (!isFetched(block)) throw block.error;
    return canonicalRecord('traces', block.traces);
  });
}

/** What became of the calls and creations, as `type: error`. */
function outcomes(texts: readonly string[]): string[] {
  const traces = texts.flatMap((text) => JSON.parse(text) as Trace[]);
  return [...new Set(traces.map(({ type, error }) => `${type}: ${error ?? 'done'}`))].sort();
}

const OUTCOMES = [
  'call: Bad instruction',
  'call: Bad jump destination',
  'call: Built-in failed',
  'call: Insufficient balance for transfer',
  'call: Mutable Call In Static Context',
  'call: Out of bounds',
  'call: Out of gas',
  'call: Out of stack',
  'call: Reverted',
  'call: Stack underflow',
  'call: done',
  'create: Bad instruction',
  'create: Contract address collision',
  'create: Insufficient balance for transfer',
  'create: Invalid code',
  'create: Out of gas',
  'create: Reverted',
  'create: done',
  'suicide: done',
];

async function expectOneText(chain: TracedChain): Promise<void> {
  const [nested, flat] = [await textsBy('callTracer', chain), await textsBy('flatCallTracer', chain)];
  for (const [index, text] of nested.entries()) {
    expect(JSON.parse(flat[index] as string)).toEqual(JSON.parse(text));
    expect(flat[index]).toBe(text);
  }
  expect(outcomes(nested)).toEqual(OUTCOMES);
}

/**
 * What a node tells by trace_block alone is left out: gas at the root, and Anvil's calls of built-in contracts that move no
 * value, with the whole transaction.
 */
function withoutKnown(text: string): Trace[] {
  return (JSON.parse(text) as Trace[]).map((trace) => {
    if (trace.traceAddress.length > 0) return trace;
    const { gas: _, ...action } = trace.action;
    const { gasUsed: __, ...result } = trace.result ?? {};
    return { ...trace, action, result };
  });
}

const RECORDING = fileURLToPath(new URL('../../test/geth-1.17.8.json.gz', import.meta.url));

describe('the canonical traces of a block, whichever method gave them', () => {
  it('are one text of what geth 1.17.8 answered', async () => {
    const chain = JSON.parse(gunzipSync(readFileSync(RECORDING)).toString()) as TracedChain;
    expect(chain.client).toContain('Geth/v1.17.8');
    await expectOneText(chain);
  });

  it.skipIf(!gethInstalled())('are one text of what geth answers (needs geth)', async () => {
    const geth = await startGeth();
    try {
      await makeFailingChain(geth.rpc);
      const chain = await readTracedChain(geth.rpc);
      await expectOneText(chain);
      if (!existsSync(RECORDING)) writeFileSync(RECORDING, gzipSync(JSON.stringify(chain), { level: 9 }));
    } finally {
      await geth.stop();
    }
  });

  it('are one text of what Anvil answers to callTracer and trace_block, its only ones', async () => {
    const anvil = await startAnvil();
    try {
      const rpc: Rpc = (method, params) => callNode(anvil.url, method, params);
      await makeFailingChain(rpc);
      const chain = await readTracedChain(rpc);
      const nested = await textsBy('callTracer', chain);
      expect(outcomes(nested)).toEqual(OUTCOMES);
      const texts = await textsBy('trace_block', chain);
      let compared = 0;
      for (const [index, text] of texts.entries()) {
        const { trace_block: given } = chain.blocks[index] as TracedBlock;
        if (
          (given as Trace[]).some(({ action, traceAddress }) => isSilent(action) && traceAddress.length > 0)
        )
          continue;
        compared++;
        expect(withoutKnown(text)).toEqual(withoutKnown(nested[index] as string));
      }
      expect(compared).toBeGreaterThan(texts.length - 4);
    } finally {
      await anvil.stop();
    }
  });
});

/** Whether it calls a built-in contract and moves nothing. */
function isSilent({ callType, to, value }: Trace['action']): boolean {
  return /^0x0{38}0[1-9]$/.test(String(to)) && (value === '0x0' || callType === 'delegatecall');
}
