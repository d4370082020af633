import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { downloadAll, startGateway, startService } from '@packhouse/rig';
import type { AttackCase } from '../ground/case.js';
import { counted } from '../ground/finding.js';
import { openGround, publishChain, replayedChain, serviceEnvironment, startCli } from '../ground/ground.js';

const PATIENCE_MS = 90_000;
const POLL_MS = 2_000;
const IDLE_MS = 8_000;

/** A published range that is finished is damaged, repaired, downloaded and verified, without any new block. */
export const attackRepair: AttackCase = async (options) => {
  const { scope } = options;
  const ground = await openGround(scope, options.postgresUrl);
  const chain = await replayedChain(scope, 24, { network: { proofs: { senders: 'off' } } });
  await publishChain(scope, ground, chain);
  const env = await serviceEnvironment(ground, [chain.network]);
  const packer = startService('packer', env, { scope });
  await packer.message('metrics');
  // What it does when it starts is done: from now on it has no work.
  await delay(options.short ? 0 : IDLE_MS);
  let damaged = 0;
  for (const kind of ['logs', 'receipts', 'traces'] as const) {
    for (const row of await ground.database.network('main').bundles.list(kind, 0, 100)) {
      const file = path.join(ground.objects, row.objectKey);
      const bytes = await readFile(file);
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 0x10;
      await writeFile(file, bytes);
      damaged += 1;
    }
  }
  // Without the key: what it publishes can only be signed by the packer, which has nothing to pack.
  const keyless = path.join(ground.directory, 'keyless');
  await mkdir(keyless);
  const audit = startCli(scope, ground, ['audit', '--repair', '--data-dir', keyless], {
    NETWORKS_FILE: env.NETWORKS_FILE as string,
    OBJECT_STORE: ground.objects,
  });
  const repaired = await audit.exit;
  const gateway = await startGateway(env, scope);
  const startedAt = performance.now();
  let verified = { code: -1 as number | string, said: '' };
  for (let attempt = 0; performance.now() - startedAt < PATIENCE_MS; attempt++) {
    verified = await downloadAndVerify(`downloads-${attempt}`);
    if (verified.code === 0) break;
    await delay(POLL_MS);
  }
  return [
    counted('repair', `${damaged} damaged bundles of a finished range: audit --repair`, {
      got: `exit code ${repaired}`,
      bound: 'exit code 0',
      held: repaired === 0,
    }),
    counted('repair', 'download and verify afterwards, without a new block', {
      got:
        verified.code === 0
          ? `right after ${Math.round((performance.now() - startedAt) / 1_000)} s`
          : `exit code ${verified.code}: ${verified.said.split('\n')[0]?.slice(0, 100)}`,
      bound: `right within ${PATIENCE_MS / 1_000} s`,
      held: verified.code === 0,
    }),
  ];

  async function downloadAndVerify(name: string): Promise<{ code: number | string; said: string }> {
    const folder = path.join(ground.directory, name);
    const reader = {
      apiKey: ground.keys.unlimited,
      baseUrl: `${gateway.url}/main/v1/`,
      downloadUrl: `${gateway.url}/main/files`,
    };
    const refused = await downloadAll(folder, reader).catch((error: Error) => error);
    if (refused instanceof Error) return { code: -1, said: refused.message };
    const run = startCli(scope, ground, ['verify', folder, '--complete']);
    const code = await run.exit;
    return { code, said: run.stdout() + run.stderr() };
  }
};
