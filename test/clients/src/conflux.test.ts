import { fileURLToPath } from 'node:url';
import { createReplayNode, loadAnswers, type ReplayNode } from '@packhouse/replay-node';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { isInstalled, library, UNLESS_INSTALLED } from './library.js';
import { type Gateway, startGateway } from './start-gateway.js';

/** What these tests use of js-conflux-sdk. */
interface Conflux {
  getLogs(filter: object): Promise<Record<string, unknown>[]>;
  getEpochNumber(tag?: string): Promise<number>;
  getStatus(): Promise<object>;
}
interface Library {
  Conflux: new (options: { url: string; networkId: number }) => Conflux;
}

const TOKEN = 'cfx:acf2rcsh8payyxpg6xj7b0ztswwh81ute60tsw35j7';
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const recording = fileURLToPath(new URL('../../replay-node/recordings/core.json', import.meta.url));

describe.skipIf(!isInstalled('js-conflux-sdk'))(`js-conflux-sdk ${UNLESS_INSTALLED}`, () => {
  let node: ReplayNode;
  let gateway: Gateway;
  const asked: unknown[] = [];
  const connect = (network: string): Conflux => {
    const { Conflux } = library<Library>('js-conflux-sdk');
    return new Conflux({ url: gateway.getUrl(network), networkId: 1029 });
  };

  beforeAll(async () => {
    const observe = ({ method, params }: { method: string; params: readonly unknown[] }): void => {
      if (method === 'cfx_getLogs') asked.push(params[0]);
    };
    node = await createReplayNode({ answers: await loadAnswers(recording), observe });
    const network = (id: string, rpc: string): string => `
  - id: ${id}
    family: core
    chainId: 1029
    upstreams: [{url: '${node.url}'}]
    ${rpc}`;
    gateway = await startGateway(
      inject('postgresUrl'),
      `networks:${network('core', '')}${network('reading', 'rpc: {allow: [cfx_epochNumber, cfx_getStatus]}')}\n`,
    );
  });
  afterAll(async () => {
    await gateway?.close();
    await node?.close();
  });

  it('reads logs by epochs, by tags and by block hashes', async () => {
    const conflux = connect('core');
    const logs = await conflux.getLogs({
      fromEpoch: 0x7b2f3c0,
      toEpoch: 'latest_state',
      address: TOKEN,
      topics: [TRANSFER, null],
    });
    expect(logs).toHaveLength(10);
    expect(logs[0]).toMatchObject({
      address: TOKEN,
      epochNumber: 0x7b2f3c0,
      logIndex: 0,
      topics: [TRANSFER, {}, {}].map((one) => (typeof one === 'string' ? one : expect.any(String))),
    });
    expect(asked.at(-1)).toMatchObject({
      fromEpoch: '0x7b2f3c0',
      toEpoch: 'latest_state',
      topics: [TRANSFER, null],
    });
    for (const tag of [
      'latest_mined',
      'latest_confirmed',
      'latest_finalized',
      'latest_checkpoint',
      'earliest',
    ]) {
      await conflux.getLogs({ fromEpoch: tag, address: [TOKEN] });
      expect(asked.at(-1)).toMatchObject({ fromEpoch: tag });
    }
    expect(await conflux.getLogs({ blockHashes: [`0x${'a1'.repeat(32)}`] })).toHaveLength(10);
    expect(await conflux.getLogs({})).toHaveLength(10);
  });

  it('is told that other methods are not offered, until the networks file allows them', async () => {
    await expect(connect('core').getEpochNumber()).rejects.toMatchObject({ code: -32601 });
    const conflux = connect('reading');
    expect(await conflux.getEpochNumber('latest_finalized')).toBe(0x7b2f3bc);
    expect(await conflux.getStatus()).toMatchObject({ chainId: 1029, epochNumber: 0x7b2f3c0 });
  });
});
