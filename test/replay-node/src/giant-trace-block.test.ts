import { request as httpRequest } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { createReplayNode, type ReplayNode } from './create-replay-node.js';
import { generateChain } from './generate-chain.js';
import { giantTraceBlock } from './giant-trace-block.js';
import { joinChains } from './join-chains.js';
import type { RecordedBlock, RpcTrace } from './recorded-block.js';
import { recordedChain } from './recorded-chain.js';
import { readValue, type ServedBlock } from './served-chain.js';
import { expectProved, servedValues } from './testing/oracle.js';

let node: ReplayNode | undefined;
afterEach(() => node?.close());

function giant(megabytes: number): ServedBlock {
  return giantTraceBlock({ megabytes, startNumber: 50 }).block(50) as ServedBlock;
}

/** Reads an answer and forgets it: its length, as promised and as received, and the most memory that it took. */
function drain(
  url: string,
  method: string,
  params: unknown[],
): Promise<{ promised: number; received: number; peak: number }> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      url,
      { method: 'POST', headers: { 'content-type': 'application/json' } },
      (incoming) => {
        let received = 0;
        let peak = 0;
        incoming.on('data', (chunk: Buffer) => {
          received += chunk.length;
          peak = Math.max(peak, process.memoryUsage.rss());
        });
        incoming.on('end', () =>
          resolve({ promised: Number(incoming.headers['content-length']), received, peak }),
        );
        incoming.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  });
}

test.each([0.001, 0.02, 3])(
  'a block of %f MB has all proofs and one tree of as many traces as it says',
  async (megabytes) => {
    const block = giant(megabytes);
    const values = servedValues(block);
    await expectProved(values);
    const [root, ...calls] = values.traces as [RpcTrace, ...RpcTrace[]];
    expect(root.subtraces).toBe(calls.length);
    expect(calls.map(({ traceAddress }) => traceAddress)).toEqual(calls.map((_, index) => [index]));
    expect(root.action.from).toBe(values.block.transactions[0]?.from);
    expect(new Set(calls.map(({ action }) => action.input)).size).toBe(calls.length);
    const text = block.text('traces');
    const length = [...(text?.pieces() ?? [])].reduce((sum, piece) => sum + piece.length, 0);
    expect(length).toBe(text?.byteLength);
    expect(Math.abs(length - megabytes * 1_000_000)).toBeLessThan(7_000);
  },
);

test("geth's flat traces of it are the same traces", () => {
  const block = giant(0.5);
  expect(readValue(block, 'debugFlat')).toEqual([
    { txHash: servedValues(block).block.transactions[0]?.hash, result: readValue(block, 'traces') },
  ]);
});

test('it is made while it is sent: 200 MB pass through little memory', async () => {
  const blocks = generateChain({ length: 2, txsPerBlock: 3 });
  const chain = recordedChain(blocks);
  const last = (blocks[1] as RecordedBlock).block;
  const after = { number: 2, hash: last.hash, timestamp: Number(last.timestamp) };
  node = await createReplayNode({ blocks: joinChains(chain, giantTraceBlock({ megabytes: 200, after })) });
  const before = process.memoryUsage.rss();
  const { promised, received, peak } = await drain(node.url, 'trace_block', ['0x3']);
  expect(received).toBe(promised);
  expect(received).toBeGreaterThan(199_990_000);
  expect(peak - before).toBeLessThan(150_000_000);
});
