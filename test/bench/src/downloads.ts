import path from 'node:path';
import type { Scope } from '@packhouse/local';
import { startReplay } from '@packhouse/rig';
import { startScriptedS3 } from '@packhouse/scripted-s3';
import { cpuOutcomes } from './cpu-outcomes.js';
import { findProgram } from './find-program.js';
import { type GatewayProcess, startEmptyServer, startGateway } from './gateway-process.js';
import { failOnErrors, type LoadReport, load, loadGenerator } from './load.js';
import { startNginx } from './nginx.js';
import type { BenchOptions } from './options.js';
import { oneNetwork, openPlace } from './place.js';
import { publishTo } from './publish-all.js';
import { type BenchOutcome, besideRate } from './result.js';
import { stageChain } from './stage-chain.js';

const BLOCKS = 24;
const CONNECTIONS = 16;
const ROUNDS = 3;
const SHARE = 0.7;
const NAME = 'download of a published bundle';

type Server = Pick<GatewayProcess, 'url' | 'pid'>;

/**
 * Downloads of one published bundle through the gateway, against nginx serving the same file.
 *
 * With DOWNLOADS=redirect a second gateway leads to an S3-compatible store instead; what it answers is an address, so it is
 * held against an empty route. All sides have as many workers.
 */
export async function benchDownloads(options: BenchOptions): Promise<BenchOutcome[]> {
  const program = await findProgram('nginx');
  const { scope, workers } = options;
  const { directory, gateway, redirecting, file } = await publishedBundle(scope, workers);
  const request = ({ url, pid }: Server, target: string, headers: Record<string, string> = {}) =>
    load(
      scope,
      directory,
      {
        url,
        paths: [target],
        below: 1,
        headers,
        connections: CONNECTIONS,
        seconds: options.seconds,
      },
      pid,
    );
  const download = (from: GatewayProcess): Promise<LoadReport> =>
    request(from, `/ethereum/files/${file.name}`, { authorization: `Bearer ${from.apiKey}` });
  const redirects = await benchRedirects(await startEmptyServer(scope, workers), workers, {
    redirect: () => download(redirecting),
    ask: (empty) => request(empty, '/empty'),
  });
  await download(gateway);
  if (program === null) return [{ name: NAME, skipped: 'nginx is not installed' }, ...redirects];
  const root = path.join(directory, 'objects');
  const nginx = await startNginx(scope, program, { directory, root, workers });
  const rounds: { gateway: LoadReport; nginx: LoadReport }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({
      nginx: await request(nginx, `/ethereum/${file.name}`),
      gateway: await download(gateway),
    });
  }
  const [own, others] = [rounds.map((round) => round.gateway), rounds.map((round) => round.nginx)];
  failOnErrors([...own, ...others]);
  const rates = (of: readonly LoadReport[]): number[] => of.map(({ bytesPerSecond }) => bytesPerSecond / 1e6);
  return [
    {
      ...besideRate(NAME, 'MB/s', rates(own), { name: 'nginx, the same file', rates: rates(others) }, SHARE),
      note: `${(file.byteLength / 1e6).toFixed(2)} MB, ${CONNECTIONS} connections from ${await loadGenerator()}, ${workers} workers on either side; median share of ${rounds.length} rounds`,
      data: { rounds, byteLength: file.byteLength },
    },
    ...cpuOutcomes(NAME, own, { name: 'nginx', reports: others }),
    ...redirects,
  ];
}

async function benchRedirects(
  empty: Server,
  workers: number,
  sides: { redirect(): Promise<LoadReport>; ask(server: Server): Promise<LoadReport> },
): Promise<BenchOutcome[]> {
  await sides.redirect();
  await sides.ask(empty);
  const rounds: { redirect: LoadReport; empty: LoadReport }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({ empty: await sides.ask(empty), redirect: await sides.redirect() });
  }
  const name = 'download, led to the object store';
  const [own, others] = [rounds.map((round) => round.redirect), rounds.map((round) => round.empty)];
  failOnErrors([...own, ...others]);
  const rates = (of: readonly LoadReport[]): number[] => of.map(({ requestsPerSecond }) => requestsPerSecond);
  return [
    {
      ...besideRate(name, 'requests/s', rates(own), {
        name: 'an empty route of node:http',
        rates: rates(others),
      }),
      note: `presigned addresses; ${CONNECTIONS} connections, ${workers} workers on either side; median share of ${rounds.length} rounds`,
      data: { rounds },
    },
    ...cpuOutcomes(name, own, { name: 'an empty route', reports: others }),
  ];
}

/** Checks that a gateway leads to the bytes of a file. */
async function leadsTo(gateway: GatewayProcess, name: string, byteLength: number): Promise<void> {
  const headers = { authorization: `Bearer ${gateway.apiKey}` };
  const address = `${gateway.url}/ethereum/files/${name}`;
  const answer = await fetch(address, { headers, redirect: 'manual' });
  const followed = await fetch(answer.headers.get('location') ?? address);
  const { byteLength: got } = await followed.arrayBuffer();
  if (got !== byteLength) throw new Error(`${got} bytes instead of ${byteLength} were behind the redirect`);
}

async function publishedBundle(scope: Scope, workers: number) {
  const place = await openPlace(scope);
  const node = await startReplay(scope, ['--generate', '12', '--extend', String(BLOCKS)]);
  const { network, file: networksFile } = oneNetwork(node.url);
  await stageChain(place, network, { from: node.first, to: node.last });
  const objects = path.join(place.directory, 'objects');
  const objectStore = await publishTo(objects, place, network);
  const rows = await place.database.network(network.id).bundles.list('traces', 0, 100);
  const largest = rows.sort((a, b) => b.byteLength - a.byteLength)[0];
  if (largest === undefined) throw new Error('nothing was published');
  const gateway = await startGateway(scope, place, { networksFile, objects, workers });
  const name = largest.objectKey.slice(`${network.id}/`.length);
  const s3 = await startScriptedS3();
  scope.defer(() => s3.close());
  const body = await objectStore.read(largest.objectKey);
  s3.objects.set(largest.objectKey, {
    body,
    contentType: 'application/gzip',
    metadata: {},
    checksum: undefined,
  });
  const redirecting = await startGateway(scope, place, {
    networksFile,
    workers,
    objects: `s3://${s3.bucket}`,
    env: {
      DOWNLOADS: 'redirect',
      S3_ENDPOINT: s3.endpoint,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: s3.accessKeyId,
      AWS_SECRET_ACCESS_KEY: 'secret',
    },
  });
  await leadsTo(redirecting, name, body.length);
  return { directory: place.directory, gateway, redirecting, file: { name, byteLength: largest.byteLength } };
}
