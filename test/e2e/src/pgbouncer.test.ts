import { pgBouncerInstalled, startPgBouncer } from '@packhouse/local';
import { createReplayNode, generateChain } from '@packhouse/replay-node';
import { expect, inject, test } from 'vitest';
import { startCli } from './cli-process.js';
import { checkPublished } from './published.js';
import { startLocal } from './start-local.js';
import { end, makeWorkspace } from './workspace.js';

const FIRST = 1_000;
const LENGTH = 40;

test.skipIf(!pgBouncerInstalled())(
  'everything works behind PgBouncer in session mode, and nothing starts behind another mode (needs pgbouncer)',
  async () => {
    const chain = generateChain({ length: LENGTH, txsPerBlock: 3, seed: 11, startNumber: FIRST });
    const workspace = await makeWorkspace(inject('postgresUrl'));
    const node = await createReplayNode({ blocks: chain });
    const session = await startPgBouncer({ url: workspace.databaseUrl, mode: 'session', poolSize: 90 });
    const shared = await startPgBouncer({ url: workspace.databaseUrl, mode: 'transaction', poolSize: 20 });
    try {
      const behind = { ...workspace, databaseUrl: session.url, env: { DATABASE_URL: session.url } };
      const local = startLocal(behind, { rpc: [node.url], from: FIRST, to: FIRST + LENGTH - 1 });
      expect(await local.exit, local.stderr()).toBe(0);
      await checkPublished(workspace, chain, 'ethereum');
      const status = startCli(['status'], { env: { ...workspace.env, DATABASE_URL: shared.url } });
      expect(await status.exit).toBe(78);
      expect(status.stderr()).toContain('[DATABASE_UNSUPPORTED]');
      await end(local);
    } finally {
      await session.stop();
      await shared.stop();
      await node.close();
      await workspace.remove();
    }
  },
);
