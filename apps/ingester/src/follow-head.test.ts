import { createProver } from '@packhouse/chain';
import { createDatabase } from '@packhouse/database';
import { freshDatabase } from '@packhouse/local';
import { type Network, parseNetworks } from '@packhouse/networks';
import { createBlockSource } from '@packhouse/node-rpc';
import { createReplayNode, generateChain } from '@packhouse/replay-node';
import {
  type Context,
  createLogger,
  createMetrics,
  type ProcessMessage,
  systemClock,
} from '@packhouse/runtime';
import { expect, inject, test } from 'vitest';
import { createHeadFollower } from './follow-head.js';

test('a kind that is late at the head is told once, not at every look', async () => {
  const stop = new AbortController();
  const context: Context = {
    logger: createLogger({ name: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: systemClock,
    signal: stop.signal,
  };
  const late = { when: { method: 'trace_block', block: 6 }, do: 'emptyTraces' } as const;
  const node = await createReplayNode({
    blocks: generateChain({ length: 8, txsPerBlock: 2 }),
    finalized: 3,
    capabilities: { debugFlat: false, debugCall: false },
    faults: [late],
  });
  const file = { networks: [{ id: 'main', family: 'evm', chainId: 1, upstreams: [{ url: node.url }] }] };
  const network = parseNetworks(JSON.stringify(file), { source: 'test', env: {} })[0] as Network;
  const fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  const database = createDatabase({ connectionString: fresh.url, context, applicationName: 'test' });
  const source = createBlockSource({ network, context, timeoutMs: 2_000 });
  const told: ProcessMessage[] = [];
  const follower = createHeadFollower({
    context,
    network: { id: 'main', pollIntervalMs: 1 },
    ingest: {
      context,
      source,
      network: 'main',
      database: database.network('main'),
      prover: await createProver(network.proofs),
    },
    notify: (message) => told.push(message),
    moved: () => undefined,
  });
  try {
    await database.networks.register({ id: 'main', chainId: 1 });
    await database
      .network('main')
      .backfills.add({ kinds: ['blocks', 'traces'], from: 0, to: null, priority: 1 });
    const look = async (): Promise<number> => {
      await follower.step(stop.signal);
      return told.length;
    };
    expect(await look()).toBe(1);
    expect(told[0]).toMatchObject({ type: 'problem', code: 'NODE_ANSWER_MISSING' });
    expect(await look()).toBe(1);
    const { staged } = await database.network('main').coverage('blocks');
    expect(staged).toEqual([{ firstBlock: 4, lastBlock: 8 }]);
    node.faults.clear();
    expect(await look()).toBe(1);
    expect((await database.network('main').coverage('traces')).staged).toEqual([
      { firstBlock: 4, lastBlock: 8 },
    ]);
  } finally {
    follower.close();
    stop.abort();
    await source.close();
    await node.close();
    await database.close();
    await fresh.drop();
  }
});
