import { createServer, type Socket } from 'node:net';
import { systemClock } from '@packhouse/runtime';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { SeenCall } from '../../test/scripted-node.js';
import { call, forwarders } from '../../test/test-forwarder.js';
import { createUpstreamClient } from '../calls/client.js';

/** How a node answers one request; the answers that follow the right one are repetitions of it. */
const REPEATS = ['right', 'twice', 'when idle', 'before the next'] as const;
const WRONG = ['that before', 'the next', 'no id', 'null', 'nothing'] as const;
type How = (typeof REPEATS)[number] | (typeof WRONG)[number];

/** Calls before the first that counts: they are timed, and what our connections cannot read leads to undici. */
const WARM = 4;
const CALLS = 12;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const { forwarderTo } = forwarders();

/** Starts a node that answers each call with its parameter: right, then as `plan` says, then right again. */
async function crossing(plan: readonly How[], unusual: boolean) {
  const sockets = new Set<Socket>();
  const node = { url: '', batches: 0 };
  let requests = -WARM;
  const server = createServer((socket) => {
    sockets.add(socket);
    let [held, kept] = ['', ''];
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      held += chunk.toString('latin1');
      const body = held.slice(held.indexOf('\r\n\r\n') + 4);
      if (!held.includes('\r\n\r\n') || body.length < Number(/content-length: (\d+)/.exec(held)?.[1])) return;
      held = '';
      const how = plan[requests++] ?? 'right';
      if (body.startsWith('[')) node.batches += 1;
      const text = write(body, how);
      const size = text.length.toString(16);
      const answer = unusual
        ? `HTTP/1.1 200 OK\r\ntransfer-encoding: identity, chunked\r\n\r\n${size}\r\n${text}\r\n0\r\n\r\n`
        : `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
      socket.write(kept + answer + (how === 'twice' ? answer : ''));
      kept = how === 'before the next' ? answer : '';
      if (how === 'when idle') setImmediate(() => socket.write(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  node.url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  return node;
}

/** The answer to a request; to a batch with one of its answers changed, and in the other order. */
function write(body: string, how: How): string {
  const asked = JSON.parse(body) as SeenCall | SeenCall[];
  const answers = [asked].flat().map(({ id, params: [n] }) => ({ jsonrpc: '2.0', id, result: n }) as object);
  const [first] = answers as [{ id?: number | null; result: unknown }];
  const other = { jsonrpc: '2.0', result: 'that to another call' };
  const changed: Partial<Record<How, object>> = {
    'that before': { id: (first.id as number) - 1, ...other },
    'the next': { id: (first.id as number) + 1, ...other },
    'no id': other,
    null: { ...other, id: null },
    nothing: {},
  };
  if (!Array.isArray(asked)) return JSON.stringify(changed[how] ?? first);
  return JSON.stringify([...answers.slice(1).reverse(), changed[how] ?? first]);
}

const plans = (hows: readonly How[]) => fc.array(fc.constantFrom(...hows), { minLength: 4, maxLength: 12 });

/** What each of the calls got: its parameter, another value, or nothing. */
function judge(got: readonly unknown[]): string[] {
  return got.map((value, n) => (value === n ? 'its own' : value === undefined ? 'none' : String(value)));
}

/** Asks in rounds of so many calls at the same moment; the results. */
async function askAll(url: string, together: number): Promise<unknown[]> {
  const { forwarder } = forwarderTo([{ url } as never], { upstreams: [{ batchCalls: together > 1 }] });
  for (let n = 0; n < WARM; n++) await call(forwarder);
  const results: unknown[] = [];
  for (let n = 0; n < CALLS; n += together) {
    const round = Array.from({ length: together }, (_, at) => call(forwarder, { params: `[${n + at}]` }));
    for (const answer of await Promise.all(round)) {
      results.push(answer.kind === 'result' ? JSON.parse(answer.body.bytes.toString()) : undefined);
    }
  }
  return results;
}

describe.each([
  ['our connections', false],
  ['undici', true],
])('over %s', (_, unusual) => {
  it.each([1, 4])('no call gets the answer to another one, %i at a time', async (together) => {
    await fc.assert(
      fc.asyncProperty(plans([...REPEATS, ...WRONG]), async (plan) => {
        const { url } = await crossing(plan, unusual);
        const got = judge(await askAll(url, together));
        expect(got.filter((what) => what !== 'its own' && what !== 'none')).toEqual([]);
      }),
      { numRuns: 12 },
    );
  });

  it.each([1, 4])('a node that repeats answers is asked anew, %i at a time', async (together) => {
    let batches = 0;
    await fc.assert(
      fc.asyncProperty(plans(REPEATS), async (plan) => {
        const node = await crossing(plan, unusual);
        expect(judge(await askAll(node.url, together))).toEqual(Array(CALLS).fill('its own'));
        batches += node.batches;
      }),
      { numRuns: 12 },
    );
    // Which calls are joined depends on how fast the machine is.
    expect(batches > 0).toBe(together > 1);
  });

  it('our own calls do not get them either, and leave the connection', async () => {
    await fc.assert(
      fc.asyncProperty(plans([...REPEATS, ...WRONG]), async (plan) => {
        const { url } = await crossing(plan, unusual);
        const client = createUpstreamClient({
          upstream: { name: 'one', url, headers: {}, maxInFlight: 2 },
          clock: systemClock,
          timeoutMs: 30_000,
          signal: new AbortController().signal,
        });
        const results: unknown[] = [];
        for (let n = 0; n < 2 * CALLS; n++) {
          const answer = await client.call('m', [n]);
          results.push(answer.kind === 'result' ? answer.value : undefined);
        }
        await client.close();
        const got = judge(results);
        expect(got.filter((what) => what !== 'its own' && what !== 'none')).toEqual([]);
        // Each answer that is refused takes its connection with it: the next is right unless it was planned otherwise.
        expect(got.slice(-6)).toEqual(Array(6).fill('its own'));
      }),
      { numRuns: 12 },
    );
  });
});
