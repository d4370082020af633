import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import { KINDS } from '@packhouse/chain';
import { createScope, type Scope } from '@packhouse/local';
import { createDiskStore } from '@packhouse/object-store';
import { pack, publish } from '@packhouse/pipeline';
import { startScriptedS3 } from '@packhouse/scripted-s3';
import { firstLine, startNode } from './child.js';
import { cpuOutcomes } from './cpu-outcomes.js';
import { findProgram } from './find-program.js';
import { type GatewayProcess, startGateway } from './gateway-process.js';
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
 * With DOWNLOADS=redirect a second gateway leads to an S3-compatible store instead; what it answers is an address, so it is
 * held against an empty route. All sides have as many workers.
 */
export async function benchDownloads(options: BenchOptions): Promise<BenchOutcome[]> {
  const program = await findProgram('nginx');
  const scope = createScope();
  try {
    const { workers } = options;
    const { directory, gateway, redirecting, file } = await publishedBundle(scope, workers);
    const request = (
      { url, child }: { url: string; child: ChildProcess },
      target: string,
      headers: Record<string, string> = {},
    ) =>
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
        child,
      );
    const download = (from: GatewayProcess): Promise<LoadReport> =>
      request(from, `/ethereum/files/${file.name}`, { authorization: `Bearer ${from.apiKey}` });
    const redirects = await benchRedirects(scope, workers, {
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
    return [
      describe(rounds, { byteLength: file.byteLength, workers, generator: await loadGenerator() }),
      ...cpuOutcomes(
        NAME,
        rounds.map((round) => round.gateway),
        { name: 'nginx', reports: rounds.map((round) => round.nginx) },
      ),
      ...redirects,
    ];
  } finally {
    await scope.close();
  }
}

function describe(
  rounds: readonly { gateway: LoadReport; nginx: LoadReport }[],
  { byteLength, workers, generator }: { byteLength: number; workers: number; generator: string },
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
    note: `${(byteLength / 1e6).toFixed(2)} MB, ${CONNECTIONS} connections from ${generator}, ${workers} workers on either side; median share of ${rounds.length} rounds`,
    data: { rounds, byteLength },
  };
}

async function benchRedirects(
  scope: Scope,
  workers: number,
  sides: {
    redirect(): Promise<LoadReport>;
    ask(server: { url: string; child: ChildProcess }): Promise<LoadReport>;
  },
): Promise<BenchOutcome[]> {
  const child = startNode(scope, 'test/bench/dist/empty-server.js', [String(workers)]);
  const empty = { child, url: `http://127.0.0.1:${await firstLine(child, 'the empty server')}` };
  await sides.redirect();
  await sides.ask(empty);
  const rounds: { redirect: LoadReport; empty: LoadReport }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({ empty: await sides.ask(empty), redirect: await sides.redirect() });
  }
  const errors = rounds.reduce((sum, each) => sum + each.redirect.errors + each.empty.errors, 0);
  if (errors > 0) throw new Error(`${errors} requests were answered neither with 302 nor with 200`);
  const name = 'download, led to the object store';
  const reports = rounds.map((round) => round.redirect);
  const value = median(reports.map(({ requestsPerSecond }) => requestsPerSecond));
  const share = median(rounds.map((each) => each.redirect.requestsPerSecond / each.empty.requestsPerSecond));
  return [
    {
      name,
      value,
      unit: 'requests/s',
      yardstick: { name: 'an empty route of node:http', value: value / share, unit: 'requests/s' },
      note: `presigned addresses; ${CONNECTIONS} connections, ${workers} workers on either side; median share of ${rounds.length} rounds`,
      data: { rounds },
    },
    ...cpuOutcomes(name, reports, { name: 'an empty route', reports: rounds.map((round) => round.empty) }),
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
  const objectStore = await createDiskStore({ directory: objects });
  const parts = { ...place, network, objectStore };
  for (const kind of KINDS) {
    await pack({ ...parts, publish: (...each) => publish(parts, ...each) }, kind, place.context.signal);
  }
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
