import type { KeyRow } from '@packhouse/database';
import { parseNetworks } from '@packhouse/networks';
import { afterEach, describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../gateway-options.js';
import { ask } from '../testing/ask.js';
import { type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';
import { getOwner } from './address-limiter.js';

let node: ScriptedNode;
let at: TestGateway;
async function start(options: Partial<GatewayOptions>): Promise<void> {
  node = await startScriptedNode();
  node.answer(() => ({ result: { err_no: 0, err_msg: '', data: { account_list: [] } } }));
  const networks = parseNetworks(
    `networks: [{id: names, family: registry, upstreams: [{url: '${node.url}'}]}]`,
    { source: 'test', env: {} },
  );
  at = await startTestGateway({ networks, ...options });
}

const key_info = { coin_type: '60', chain_id: '1', key: '0x1' };
const call = {
  jsonrpc: '2.0',
  id: 1,
  method: 'registry_accountList',
  params: [{ type: 'blockchain', key_info }],
};

/** Statuses of concurrent calls with this X-Forwarded-For. */
async function statuses(from: string, count: number): Promise<number[]> {
  const answers = await Promise.all(
    Array.from({ length: count }, () =>
      ask(at.url, '/names/v1/', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
        body: JSON.stringify(call),
      }),
    ),
  );
  return answers.map(({ status }) => status).sort();
}

// The rate is small and used at once, so that no second ends in between.
describe('a network that wants no key', () => {
  afterEach(async () => {
    await at?.close();
    await node?.close();
  });

  it('answers so many requests a second from one address, whatever it says of itself', async () => {
    await start({ openRate: 2 });
    const all = [...(await statuses('192.0.2.1', 10)), ...(await statuses('192.0.2.2', 10))];
    expect(all).toContain(429);
    expect(all.filter((status) => status === 200).length).toBeLessThan(20);
  });

  it('counts by the address that a trusted proxy tells', async () => {
    await start({ openRate: 2, trustProxy: ['loopback'] });
    expect(await statuses('192.0.2.1', 2)).toEqual([200, 200]);
    expect(await statuses('192.0.2.2', 2)).toEqual([200, 200]);
    expect(await statuses('2001:db8::1', 2)).toEqual([200, 200]);
    expect(await statuses('192.0.2.9', 20)).toContain(429);
    // The part before the proxy's own entry is written by the client, and not trusted.
    expect(await statuses('198.51.100.7, 192.0.2.8', 20)).toContain(429);
  });

  it('believes as many proxies as it is told there are', async () => {
    await start({ openRate: 2, trustProxy: 1 });
    expect(await statuses('192.0.2.1', 2)).toEqual([200, 200]);
    expect(await statuses('192.0.2.2', 2)).toEqual([200, 200]);
    expect(await statuses('192.0.2.3, 192.0.2.4', 2)).toEqual([200, 200]);
    expect(await statuses('192.0.2.5, 192.0.2.4', 20)).toContain(429);
  });
});

const of = (address: string): number => getOwner({ key: undefined, address });

it('is the key where there is one, else the block of the address, and never both', () => {
  expect(getOwner({ key: { id: 7 } as KeyRow })).toBe(7);
  expect(of('10.0.0.1')).toBe(of('::ffff:10.0.0.1'));
  expect(of('2001:db8::1')).toBe(of('2001:db8::2'));
  const blocks = ['10.0.0.1', '10.0.0.2', '2001:db8::1', '2001:db8:0:1::1'].map(of);
  expect(new Set(blocks).size).toBe(4);
  expect(blocks.every((block) => Number.isSafeInteger(block) && block < 0)).toBe(true);
});
