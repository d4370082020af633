import path from 'node:path';
import { KINDS } from '@packhouse/chain';
import { createScope, type Scope } from '@packhouse/local';
import { createDiskStore } from '@packhouse/object-store';
import { pack, publish } from '@packhouse/pipeline';
import { findProgram } from './find-program.js';
import { startGateway } from './gateway-process.js';
import { type LoadReport, load, loadGenerator } from './load.js';
import { median } from './median.js';
import { startNginx } from './nginx.js';
import type { BenchOptions } from './options.js';
import { oneNetwork, openPlace } from './place.js';
import { startReplay } from './replay.js';
import type { BenchOutcome } from './result.js';
import { stageChain } from './stage-chain.js';

const BLOCKS = 24;
const CONNECTIONS = 16;
const ROUNDS = 3;
const SHARE = 0.7;
const NAME = 'download of a published bundle';

/**
 * Downloads of one published bundle through the gateway, against nginx serving the same file.
 *
 * nginx runs with one worker, because a gateway is one process; more cores need more of either.
 */
export async function benchDownloads(options: BenchOptions): Promise<BenchOutcome[]> {
  const program = await findProgram('nginx');
  const scope = createScope();
  try {
    const { directory, gateway, file } = await publishedBundle(scope);
    const request = (url: string, target: string, headers: Record<string, string>) =>
      load(scope, directory, {
        url,
        paths: [target],
        below: 1,
        headers,
        connections: CONNECTIONS,
        seconds: options.seconds,
      });
    const download = (): Promise<LoadReport> =>
      request(gateway.url, `/ethereum/files/${file.name}`, { authorization: `Bearer ${gateway.apiKey}` });
    await download();
    if (program === null) return [{ name: NAME, skipped: 'nginx is not installed' }];
    const root = path.join(directory, 'objects');
    const nginx = await startNginx(scope, program, { directory, root, workers: 1 });
    const rounds: { gateway: LoadReport; nginx: LoadReport }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      rounds.push({
        nginx: await request(nginx.url, `/ethereum/${file.name}`, {}),
        gateway: await download(),
      });
    }
    return [describe(rounds, file.byteLength, await loadGenerator())];
  } finally {
    await scope.close();
  }
}

function describe(
  rounds: readonly { gateway: LoadReport; nginx: LoadReport }[],
  byteLength: number,
  generator: string,
): BenchOutcome {
  const errors = rounds.reduce((sum, each) => sum + each.gateway.errors + each.nginx.errors, 0);
  if (errors > 0) throw new Error(`${errors} downloads were not answered with 200`);
  const share = median(rounds.map(({ gateway, nginx }) => gateway.bytesPerSecond / nginx.bytesPerSecond));
  const value = median(rounds.map(({ gateway }) => gateway.bytesPerSecond)) / 1e6;
  return {
    name: NAME,
    value,
    unit: 'MB/s',
    yardstick: { name: 'nginx, the same file', value: value / share, unit: 'MB/s' },
    target: `at least ${SHARE * 100} %`,
    met: share >= SHARE,
    note: `${(byteLength / 1e6).toFixed(2)} MB, ${CONNECTIONS} connections from ${generator}, one process on either side; median share of ${rounds.length} rounds`,
    data: { rounds, byteLength },
  };
}

async function publishedBundle(scope: Scope) {
  const place = await openPlace(scope);
  const node = await startReplay(scope, ['--generate', '12', '--extend', String(BLOCKS)]);
  const { network, file: networksFile } = oneNetwork(node.url);
  await stageChain(place, network, { start: node.first, end: node.last });
  const objects = path.join(place.directory, 'objects');
  const objectStore = await createDiskStore({ directory: objects });
  const parts = { ...place, network, objectStore };
  for (const kind of KINDS) {
    await pack({ ...parts, publish: (...each) => publish(parts, ...each) }, kind, place.context.signal);
  }
  const rows = await place.database.network(network.id).bundles.list('traces', 0, 100);
  const largest = rows.sort((a, b) => b.byteLength - a.byteLength)[0];
  if (largest === undefined) throw new Error('nothing was published');
  const gateway = await startGateway(scope, place, { networksFile, objects });
  const name = largest.objectKey.slice(`${network.id}/`.length);
  return { directory: place.directory, gateway, file: { name, byteLength: largest.byteLength } };
}
