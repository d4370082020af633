import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Database, Nft } from '@packhouse/database';
import { parseNetworks } from '@packhouse/networks';
import type { NftOptions } from '@packhouse/nft';
import { contractAt } from '@packhouse/replay-node';
import { createMetrics } from '@packhouse/runtime';
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from 'vitest';
import { createGateway } from '../create-gateway.js';
import { type Answer, ask, post } from './ask.js';
import { type ScriptedContracts, scriptedContracts } from './scripted-contracts.js';
import { type ScriptedNode, startScriptedNode } from './scripted-node.js';
import { startTestGateway, type TestGateway } from './test-gateway.js';

/** The answer of GET for a job. */
export interface NftStatus {
  status: string;
  found: number | null;
  complete: boolean | null;
  counts: Record<string, number>;
  tokens: {
    contractAddress: string;
    tokenId: string;
    outcome: string;
    requested_at: string;
    refreshed: boolean;
  }[];
  next: string | null;
}

/** The parts that all tests of a file share. */
export interface NftPlace {
  at: TestGateway;
  node: ScriptedNode;
  /** For the network `core`. */
  key: string;
  /** For all networks. */
  anyKey: string;
}

/** The parts that are new for every test. */
export interface NftScene {
  contracts: ScriptedContracts;
  /** Answers of the web by path; default: a document that names the path. */
  pages: Record<string, (request: IncomingMessage, response: ServerResponse) => void>;
  /** Requested paths of the web, in order. */
  visited: string[];
  /** A contract that no other test has. */
  contract: string;
}

const LEASE_MS = 1_500;

/**
 * A gateway for refreshing tokens, with scripted nodes; all public addresses lead to one server on this machine. It is
 * started before the tests of a file, and closed after them.
 */
export function useNftStage() {
  let place: NftPlace;
  let scene: NftScene;
  let web: Server;
  let options: NftOptions;
  let used = 0;
  const networksText = (node: ScriptedNode, core = 'core'): string => `networks:
  - {id: ${core}, family: core, chainId: 1029, upstreams: [{url: '${node.url}'}]}
  - {id: evm, family: evm, chainId: 1, upstreams: [{url: '${node.url}'}]}`;

  beforeAll(async () => {
    const node = await startScriptedNode();
    web = createServer((request, response) => {
      const path = request.url ?? '';
      scene.visited.push(path);
      const page = scene.pages[path];
      if (page === undefined) response.end(`{"name":"${path}"}`);
      else page(request, response);
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    const { port } = web.address() as AddressInfo;
    options = {
      allowHttp: true,
      ipfsGateways: ['http://ipfs.example/ipfs/'],
      testing: {
        resolve: async (host) => (host === 'inside.example' ? ['10.0.0.1'] : ['93.184.216.34']),
        dial: () => ({ address: '127.0.0.1', port }),
        timeoutMs: 5_000,
        leaseMs: LEASE_MS,
      },
    };
    const networks = parseNetworks(networksText(node), { source: 'test', env: {} });
    const at = await startTestGateway({ networks, nft: options });
    const { key } = await at.makeKey('unlimited', 'core');
    place = { at, node, key, anyKey: (await at.makeKey()).key };
  });
  afterAll(async () => {
    await place?.at.close();
    await place?.node.close();
    await new Promise((resolve) => web.close(resolve));
  });
  beforeEach(() => {
    const contracts = scriptedContracts();
    place.node.answer((call) => contracts.answer(call));
    used += 1;
    scene = { contracts, pages: {}, visited: [], contract: contractAt(used) };
  });
  afterEach(() => web.closeAllConnections());

  const stage = {
    place: () => place,
    scene: () => scene,
    put: (
      body: unknown,
      {
        key = place.key,
        network = 'core',
        headers = {},
        url = place.at.url,
      }: { key?: string; network?: string; headers?: Record<string, string>; url?: string } = {},
    ): Promise<Answer> =>
      post(url, `/${network}/v1/${key}/nft-api/refresh`, body, { method: 'PUT', headers }),
    async look(url: string): Promise<NftStatus> {
      const { pathname, search } = new URL(url);
      const answer = await ask(place.at.url, pathname + search);
      expect(answer.status, answer.text).toBe(200);
      return answer.json() as unknown as NftStatus;
    },
    /** Waits for the end of a job. */
    async done(url: string): Promise<NftStatus> {
      await vi.waitFor(async () => expect((await stage.look(url)).status).toBe('done'), {
        timeout: 60_000,
        interval: 50,
      });
      return stage.look(url);
    },
    /** Requests a refresh and waits for its end. */
    async refreshed(body: object): Promise<NftStatus & { url: string }> {
      const answer = await stage.put(body);
      expect(answer.status, answer.text).toBe(202);
      const url = String(answer.json().status_url);
      return { ...(await stage.done(url)), url };
    },
    stored: (tokenId: string) => place.at.database.nft.token('core', { contract: scene.contract, tokenId }),
    /** Starts another gateway on the same database; `nft` replaces its settings. */
    async another(nft: Nft, network?: string) {
      const { at, node } = place;
      const database: Database = { ...at.database, nft };
      const gateway = await createGateway({
        context: { ...at.context, metrics: createMetrics() },
        database,
        objectStore: at.objectStore,
        networks: parseNetworks(networksText(node, network), { source: 'test', env: {} }),
        nft: options,
      });
      return { gateway, url: `http://127.0.0.1:${await gateway.listen(0, '127.0.0.1')}` };
    },
  };
  return stage;
}
