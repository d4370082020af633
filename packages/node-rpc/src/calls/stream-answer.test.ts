import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { RpcError } from '../../test/scripted-node.js';
import {
  getBlockHash,
  getTransactionHash,
  serveChain,
  smallChain,
  toReceipts,
  toTraces,
} from '../../test/small-chain.js';
import { collect, isFetched, testUpstream, useNodes } from '../../test/test-source.js';
import { openStreamedAnswer, type StreamedAnswer } from './stream-answer.js';

const ALL = { receipts: true, traces: true };
const LIMIT = 20_000;

async function read(traces: unknown): Promise<unknown[]> {
  expect(Array.isArray(traces)).toBe(false);
  const all: unknown[] = [];
  for await (const trace of traces as AsyncIterable<unknown>) all.push(trace);
  return all;
}

describe('an answer beyond the body limit', () => {
  const use = useNodes();
  const many = smallChain({ transactions: (number) => (number === 7 ? 500 : 1) });

  it('streams traces to the same that would have been parsed', async () => {
    const node = await use.node(serveChain(many));
    const whole = use.source([testUpstream(node.url)]).source;
    const streamed = use.source([testUpstream(node.url)], { maxBodyBytes: LIMIT }).source;
    const expected = await whole.fetchBlock(7, { receipts: false, traces: true });
    expect(expected.traces).toHaveLength(501);
    // The block itself is beyond the limit too, and assembled.
    const block = await streamed.fetchBlock(7, { receipts: false, traces: true });
    expect(block.block).toEqual(expected.block);
    expect(await read(block.traces)).toEqual(expected.traces);
  });

  it('puts receipts together up to eight times the limit, then refuses them by name', async () => {
    const node = await use.node(serveChain(many));
    const { source } = use.source([testUpstream(node.url)], { maxBodyBytes: LIMIT });
    const block = await source.fetchBlock(7, { receipts: true, traces: false });
    expect(block.receipts).toEqual(toReceipts(many, 7));
    const small = use.source([testUpstream(node.url)], { maxBodyBytes: LIMIT / 8 }).source;
    const refused = small.fetchBlock(7, { receipts: true, traces: false });
    await expect(refused).rejects.toMatchObject({ code: 'NODE_ANSWER_TOO_LARGE' });
    await expect(refused).rejects.toThrow('answered with more than 20000 bytes');
  });

  it('comes in its place among blocks that fit, and does not stop them', async () => {
    const node = await use.node(serveChain(many));
    const { source } = use.source([testUpstream(node.url)], { maxBodyBytes: LIMIT });
    const seen: [number, number][] = [];
    for await (const block of source.fetchBlocks(
      { firstBlock: 0, lastBlock: 30 },
      { receipts: false, traces: true },
    )) {
      if (!isFetched(block)) throw block.error;
      const traces = Array.isArray(block.traces) ? block.traces : await read(block.traces);
      seen.push([block.number, traces.length]);
    }
    expect(seen).toEqual(Array.from({ length: 31 }, (_, number) => [number, number === 7 ? 501 : 2]));
  });

  it.each(['flatCallTracer', 'callTracer'])('flattens %s transaction by transaction', async (tracer) => {
    const frame = {
      type: 'CALL',
      from: '0x1',
      to: '0x2',
      value: '0x1',
      gas: '0x1',
      gasUsed: '0x1',
      input: `0x${'00'.repeat(100)}`,
      calls: [{ type: 'STATICCALL', from: '0x2', to: '0x3', gas: '0x1', gasUsed: '0x1', input: '0x' }],
    };
    const node = await use.node((call) => {
      if (call.method === 'trace_block') throw new RpcError(-32601, 'Method not found');
      if (call.method !== 'debug_traceBlockByHash') return serveChain(many)(call);
      const asked = (call.params[1] as { tracer: string }).tracer;
      if (asked !== tracer) throw new RpcError(-32000, 'tracer not found');
      const count = many.transactions(call.params[0] === getBlockHash(7) ? 7 : 8);
      return Array.from({ length: count }, (_, index) => ({
        txHash: getTransactionHash(call.params[0] === getBlockHash(7) ? 7 : 8, index),
        result: tracer === 'callTracer' ? frame : toTraces(many, 8).slice(0, 1),
      }));
    });
    const whole = use.source([testUpstream(node.url)]).source;
    const streamed = use.source([testUpstream(node.url)], { maxBodyBytes: LIMIT }).source;
    // The way to ask is learned on a block that fits.
    await streamed.fetchBlock(8, { receipts: false, traces: true });
    const expected = await whole.fetchBlock(7, { receipts: false, traces: true });
    const block = await streamed.fetchBlock(7, { receipts: false, traces: true });
    expect(expected.traces).toHaveLength(tracer === 'callTracer' ? 1_000 : 500);
    expect(await read(block.traces)).toEqual(expected.traces);
  });

  it('rejects in the middle when the node breaks off, and lets go of the connection', async () => {
    const node = await use.node(serveChain(many));
    node.intercept = (request, response) => {
      if (request.calls[0]?.method !== 'trace_block') return false;
      const text = JSON.stringify({ jsonrpc: '2.0', id: request.calls[0].id, result: toTraces(many, 7) });
      response.write(text.slice(0, text.length / 2), () => response.destroy());
      return true;
    };
    const { source } = use.source([testUpstream(node.url)], { maxBodyBytes: LIMIT });
    const block = await source.fetchBlock(7, { receipts: false, traces: true });
    await expect(read(block.traces)).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
    await node.when(() => node.inFlight === 0);
  });

  it.each([
    [
      'JSON that is malformed',
      (text: string) => text.replace(',"type":"reward"', ',,"type":"reward"'),
      'NODE_NOT_JSON_RPC',
    ],
    [
      'text that is not UTF-8',
      (text: string) => Buffer.from(text.replace('"type":"reward"', '"type":"\xff"'), 'latin1'),
      'NODE_NOT_JSON_RPC',
    ],
    ['JSON that ends too early', (text: string) => text.slice(0, -3), 'NODE_NOT_JSON_RPC'],
    [
      'the id of another call',
      (text: string) => text.replace(/"id":\d+,(.*)\}$/s, '$1,"id":987654}'),
      'NODE_ANSWER_INVALID',
    ],
  ])('rejects by name for %s', async (_, damage, code) => {
    const node = await use.node(serveChain(many));
    node.intercept = (request, response) => {
      if (request.calls[0]?.method !== 'trace_block') return false;
      const text = JSON.stringify({ jsonrpc: '2.0', id: request.calls[0].id, result: toTraces(many, 7) });
      const damaged = damage(text);
      expect(damaged).not.toBe(text);
      response.end(damaged);
      return true;
    };
    const { source } = use.source([testUpstream(node.url)], { maxBodyBytes: LIMIT });
    const block = await source.fetchBlock(7, { receipts: false, traces: true });
    await expect(read(block.traces)).rejects.toMatchObject({ code });
  });

  it('recognises traces of another block by the first element', async () => {
    const node = await use.node((call) =>
      call.method === 'trace_block'
        ? toTraces(many, 7).map((trace) => ({ ...trace, blockHash: '0xother' }))
        : serveChain(many)(call),
    );
    const { source } = use.source([testUpstream(node.url)], { maxBodyBytes: LIMIT });
    const block = await source.fetchBlock(7, { receipts: false, traces: true });
    await expect(read(block.traces)).rejects.toMatchObject({ code: 'NODE_ANSWER_INVALID' });
  });

  it('closes the connection when the reader leaves, aborts, or the source closes', async () => {
    const node = await use.node(serveChain(many));
    node.intercept = (request, response) => {
      if (request.calls[0]?.method !== 'trace_block') return false;
      const text = JSON.stringify({ jsonrpc: '2.0', id: request.calls[0].id, result: toTraces(many, 7) });
      response.write(text.slice(0, -100));
      return true;
    };
    const { source } = use.source([testUpstream(node.url)], { maxBodyBytes: LIMIT });
    const request = { receipts: false, traces: true };
    const left = await source.fetchBlock(7, request);
    for await (const trace of left.traces as AsyncIterable<unknown>) {
      expect(trace).toBeDefined();
      break;
    }
    await node.when(() => node.inFlight === 0);
    const controller = new AbortController();
    const aborted = await source.fetchBlock(7, request, { signal: controller.signal });
    const reason = new Error('enough');
    const reading = read(aborted.traces);
    reading.catch(() => undefined);
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
    await node.when(() => node.inFlight === 0);
    const closed = await source.fetchBlock(7, request);
    await source.close();
    await expect(read(closed.traces)).rejects.toThrow('were closed');
    await node.when(() => node.sockets.size === 0);
  });

  it('refuses a batch as a whole and asks again for less', async () => {
    const node = await use.node(serveChain(smallChain({ transactions: () => 10 })));
    const { source } = use.source([testUpstream(node.url)], { maxBodyBytes: LIMIT });
    const blocks = await collect(source.fetchBlocks({ firstBlock: 0, lastBlock: 49 }, ALL));
    expect(blocks.filter(isFetched)).toHaveLength(50);
  });
});

describe('openStreamedAnswer', () => {
  const asked = { label: { name: 'main', text: 'main', quote: (text: string) => text }, what: 'something' };

  async function open(text: string, pieces: number[] = [], assemble = false): Promise<StreamedAnswer> {
    const bytes = Buffer.from(text);
    const chunks: Buffer[] = [];
    let from = 0;
    for (const piece of [...pieces, bytes.length]) {
      const to = Math.min(bytes.length, from + piece);
      if (to > from) chunks.push(bytes.subarray(from, to));
      from = to;
    }
    const start = chunks.splice(0, 1);
    return openStreamedAnswer({
      start,
      rest: { next: async () => chunks.shift() ?? null, destroy: () => undefined },
      id: 1,
      method: 'trace_block',
      asked,
      signal: new AbortController().signal,
      assemble,
      elementBytes: 1_000_000,
      valueBytes: 1_000_000,
      idleMs: 60_000,
      ended: () => undefined,
    });
  }

  it('recognises an error object, a null result and a missing one', async () => {
    const error = await open('{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}');
    expect(error.kind === 'fault' && error.fault.error.code).toBe('NODE_METHOD_MISSING');
    const batchError = await open('{"error":{"code":-32000,"message":"x"},"id":null}');
    expect(batchError.kind === 'fault' && batchError.fault.error.code).toBe('NODE_ERROR');
    expect(await open('{"jsonrpc":"2.0","id":1,"result":null}')).toMatchObject({
      kind: 'value',
      value: null,
    });
    const missing = await open('{"jsonrpc":"2.0","id":1}');
    expect(missing.kind === 'fault' && missing.fault.error.code).toBe('NODE_ANSWER_INVALID');
    const list = await open('[{"jsonrpc":"2.0","id":1,"result":[]}]');
    expect(list.kind === 'fault' && list.fault.error.code).toBe('NODE_ANSWER_INVALID');
    const html = await open('<html></html>');
    expect(html.kind === 'fault' && html.fault.error.code).toBe('NODE_NOT_JSON_RPC');
  });

  it('gives what JSON.parse gives, wherever the pieces are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue(), { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 20 }),
        fc.boolean(),
        fc.option(fc.jsonValue(), { nil: undefined }),
        async (elements, pieces, idLast, extra) => {
          const result = JSON.stringify(elements);
          const more = extra === undefined ? '' : `"extra":[{"result":7},${JSON.stringify(extra)}],`;
          const text = idLast
            ? `{${more}"result":${result},"id":1}`
            : `{"jsonrpc":"2.0","id":1,${more} "result" : ${result} }`;
          const { result: expected } = JSON.parse(text) as { result: unknown[] };
          const opened = await open(text, pieces);
          if (opened.kind !== 'elements') throw new Error(opened.kind);
          const got: unknown[] = [];
          for await (const element of opened.elements) got.push(element);
          expect(got).toEqual(expected);
          const assembled = await open(text, pieces, true);
          expect(assembled).toMatchObject({ kind: 'value', value: expected });
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('memory', () => {
  const use = useNodes();
  const children: { kill: () => void; exited: Promise<unknown> }[] = [];

  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill();
      await child.exited;
    }
  });

  it('stays bounded while a trace answer of 150 MB is read', async () => {
    const megabytes = 150;
    const script = fileURLToPath(new URL('../../test/huge-trace-node.mjs', import.meta.url));
    const child = spawn(process.execPath, [script, String(megabytes)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push({ kill: () => child.kill(), exited: once(child, 'exit') });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { source } = use.source([testUpstream(line.toString().trim())], { maxBodyBytes: 8_388_608 });
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const held = (): number => {
      collectGarbage();
      const { arrayBuffers, external, heapUsed } = process.memoryUsage();
      return heapUsed + external + arrayBuffers;
    };
    const before = held();
    const block = await source.fetchBlock(1, ALL);
    let count = 0;
    let peak = 0;
    for await (const trace of block.traces as AsyncIterable<{ traceAddress: number[] }>) {
      if (trace.traceAddress.length > 1_000) throw new Error('never');
      if (count % 20_000 === 0) peak = Math.max(peak, held());
      count += 1;
    }
    expect(count).toBeGreaterThan((megabytes * 1_000_000) / 1_000);
    expect(peak - before).toBeLessThan(64_000_000);
  });
});
