import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { REQUESTS_AT_ONCE } from '@packhouse/runtime';
import { afterEach, expect, it } from 'vitest';
import { API_KEY } from '../testing/bad-gateway.js';
import { createDocumentTurns } from './document-turns.js';
import { gatewayAddress } from './gateway-address.js';
import { createHttp, type Http, type Wait } from './http.js';

let stop: (() => Promise<void>) | undefined;
afterEach(() => stop?.());

/** A gateway that answers nothing until it is let, and breaks every fifth of these connections then. */
async function startHolding() {
  const running = new Map<string, number>();
  const held: (() => void)[] = [];
  let holds = true;
  const server = createServer((request, response) => {
    const name = /bundle-api\/([\w/]+)/.exec(request.url ?? '')?.[1] ?? '';
    const now = (running.get(name) ?? 0) + 1;
    running.set(name, now);
    const isCut = holds && held.length % 5 === 4;
    const answer = (): void => {
      running.set(name, (running.get(name) ?? 0) - 1);
      const limit = (REQUESTS_AT_ONCE as Partial<Record<string, number>>)[name] ?? Number.POSITIVE_INFINITY;
      if (now > limit) response.writeHead(429, { 'retry-after': '1' }).end();
      else if (isCut) response.destroy();
      else response.end('good');
    };
    if (holds) held.push(answer);
    else answer();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const waits: Wait[] = [];
  const turns = createDocumentTurns();
  const sleep = async (): Promise<void> => undefined;
  const make = (patient: boolean): Http =>
    createHttp({ apiKey: API_KEY, turns, patient, sleep, onWait: (wait) => waits.push(wait) });
  const clients = [make(false), make(true)] as const;
  stop = async () => {
    for (const client of clients) await client.close();
    await new Promise((closed) => server.close(closed));
  };
  const release = (): void => {
    holds = false;
    for (const answer of held) answer();
  };
  return {
    address: gatewayAddress(`http://127.0.0.1:${port}/ethereum`, API_KEY),
    clients,
    waits,
    running,
    release,
  };
}

it('asks for each document as often at a time as a gateway allows a key, whatever breaks, and for the rest at once', async () => {
  const { address, clients, waits, running, release } = await startHolding();
  const limits = Object.entries(REQUESTS_AT_ONCE);
  // The last ones are of documents without a limit: where they are, all that can be on their way are.
  const names = [...limits.map(([name]) => name), 'manifest/head', 'blocks/7'];
  const asked = names.flatMap((name) =>
    Array.from({ length: 20 }, (_, at) =>
      (clients[at % 2] as Http).text(address.api(`${name}?at=${at}`), 100),
    ),
  );
  const arrived = Object.fromEntries([...limits, ['manifest/head', 20], ['blocks/7', 20]]);
  await expect.poll(() => Object.fromEntries(running)).toEqual(arrived);
  release();
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['good']));
  expect(waits.filter(({ rateLimited }) => rateLimited)).toEqual([]);
  expect(waits.length).toBeGreaterThan(0);
});

it('goes on after a request that was aborted while others waited', async () => {
  const { address, clients, release } = await startHolding();
  const stopped = new AbortController();
  const signals = Array.from({ length: 12 }, (_, at) => (at % 3 === 0 ? stopped.signal : undefined));
  const asked = signals.map((signal) => clients[1].text(address.api('coverage'), 100, { signal }));
  stopped.abort();
  release();
  const settled = await Promise.allSettled(asked);
  expect(settled.map(({ status }) => status)).toEqual(
    signals.map((signal) => (signal === undefined ? 'fulfilled' : 'rejected')),
  );
});
