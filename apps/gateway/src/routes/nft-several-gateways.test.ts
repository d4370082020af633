import type { ServerResponse } from 'node:http';
import type { Nft } from '@packhouse/database';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ask } from '../testing/ask.js';
import { type NftPlace, type NftScene, type NftStatus, useNftStage } from '../testing/nft-stage.js';

const stage = useNftStage();
const { put, done, another } = stage;
let at: NftPlace['at'];
let anyKey: NftPlace['anyKey'];
let contracts: NftScene['contracts'];
let pages: NftScene['pages'];
let visited: NftScene['visited'];
let contract: NftScene['contract'];

beforeAll(() => {
  ({ at, anyKey } = stage.place());
});
beforeEach(() => {
  ({ contracts, pages, visited, contract } = stage.scene());
});

describe('several gateways on one database', () => {
  it('share the work, and ask for each token once', async () => {
    const second = await another(at.database.nft);
    try {
      for (let n = 1; n <= 40; n++) contracts.add({ contract, id: BigInt(n), uri: `http://a.example/${n}` });
      const bodies = [
        { contractAddress: contract },
        ...[1, 2, 3, 4, 5].map((n) => ({ contractAddress: contract, tokenId: `0x${n}` })),
      ];
      const urls = await Promise.all(
        bodies.flatMap((body) =>
          [at.url, second.url].map(async (url) => {
            const answer = await put(body, { url });
            expect(answer.status, answer.text).toBe(202);
            return String(answer.json().status_url);
          }),
        ),
      );
      const ends = await Promise.all(urls.map(done));
      expect(ends.every(({ counts, found }) => counts.indexed === found)).toBe(true);
      expect(ends.filter(({ found }) => found === 40)).toHaveLength(2);
      expect([...visited].sort()).toEqual(Array.from({ length: 40 }, (_, n) => `/${n + 1}`).sort());
    } finally {
      await second.gateway.close();
    }
  });

  it('take up the job of one that was killed in the middle, where it was', async () => {
    for (let n = 1; n <= 9; n++)
      contracts.add({ contract, id: BigInt(n), uri: `http://a.example/${n}`, epoch: n });
    const held: ServerResponse[] = [];
    for (const n of [1, 2, 3, 4, 5]) pages[`/${n}`] = (_, response) => void held.push(response);
    // Dead: nothing reaches Postgres any more, neither a result nor a renewed lease nor its end.
    let dead = false;
    const dying = new Proxy(at.database.nft, {
      get:
        (nft, name) =>
        async (...values: unknown[]): Promise<unknown> => {
          if (dead) throw new Error('this gateway is dead');
          return (nft[name as keyof Nft] as (...all: unknown[]) => unknown)(...values);
        },
    });
    const victim = await another(dying, 'doomed');
    const answer = await put(
      { contractAddress: contract },
      { url: victim.url, network: 'doomed', key: anyKey },
    );
    expect(answer.status, answer.text).toBe(202);
    const path = new URL(String(answer.json().status_url)).pathname;
    await vi.waitFor(() => expect(held).toHaveLength(4), { timeout: 60_000 });
    const before = (await ask(victim.url, path)).json() as unknown as NftStatus;
    expect(before).toMatchObject({ status: 'running', counts: { indexed: 4, waiting: 5 } });
    dead = true;
    for (const n of [1, 2, 3, 4, 5]) delete pages[`/${n}`];
    const successor = await another(at.database.nft, 'doomed');
    try {
      await vi.waitFor(
        async () => expect((await ask(successor.url, path)).json()).toMatchObject({ status: 'done' }),
        { timeout: 60_000, interval: 50 },
      );
      expect((await ask(successor.url, path)).json()).toMatchObject({ found: 9, counts: { indexed: 9 } });
      // Tokens with an outcome kept it; unfinished ones were asked for again.
      const times = (n: number) => visited.filter((one) => one === `/${n}`).length;
      expect([9, 8, 7, 6, 1].map(times)).toEqual([1, 1, 1, 1, 1]);
      expect([5, 4, 3, 2].map(times)).toEqual([2, 2, 2, 2]);
      // It may no longer write results that it still receives.
      for (const response of held) response.end('{"late":true}');
      expect((await at.database.nft.token('doomed', { contract, tokenId: '0x5' }))?.metadata).toBe(
        '{"name":"/5"}',
      );
    } finally {
      await victim.gateway.close();
      await successor.gateway.close();
    }
  });

  it('hand a job over at once where one is drained', async () => {
    contracts.add({ contract, id: 1n, uri: 'http://a.example/1' });
    pages['/1'] = () => undefined;
    const first = await another(at.database.nft, 'drained');
    const answer = await put(
      { contractAddress: contract },
      { url: first.url, network: 'drained', key: anyKey },
    );
    const path = new URL(String(answer.json().status_url)).pathname;
    await vi.waitFor(() => expect(visited).toHaveLength(1), { timeout: 60_000 });
    await first.gateway.close();
    delete pages['/1'];
    const id = Buffer.from(path.slice(-32), 'hex');
    const view = await at.database.nft.view({ id, network: 'drained', application: 'test' });
    expect(view).toMatchObject({ status: 'queued', counts: { waiting: 1 } });
    const second = await another(at.database.nft, 'drained');
    await vi.waitFor(
      async () => expect((await ask(second.url, path)).json()).toMatchObject({ status: 'done' }),
      { timeout: 60_000, interval: 50 },
    );
    await second.gateway.close();
  });
});
