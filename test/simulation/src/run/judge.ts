import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { KINDS } from '@packhouse/chain';
import { contentIsHonest } from '../invariants/1-content-is-honest.js';
import { noOverlapOnlyFinal } from '../invariants/2-no-overlap-only-final.js';
import { bytesNeverChange } from '../invariants/3-bytes-never-change.js';
import { coverageIsExact } from '../invariants/4-coverage-is-exact.js';
import { nothingLostOrDoubled } from '../invariants/5-nothing-lost-or-doubled.js';
import { pointersResolve } from '../invariants/6-pointers-resolve.js';
import { reclaimedAfterReadable } from '../invariants/7-reclaimed-after-readable.js';
import { noSecrets, type PublicText } from '../invariants/8-no-secrets.js';
import { memoryBounded } from '../invariants/9-memory-bounded.js';
import { auditIsClean } from '../invariants/audit-is-clean.js';
import { coverageRouteIsTrue } from '../invariants/coverage-route.js';
import type { Evidence } from '../invariants/evidence.js';
import { lakeIsPublished } from '../invariants/lake-is-published.js';
import { manifestVerifies } from '../invariants/manifest-verifies.js';
import { createFindings, type Verdict } from '../invariants/verdict.js';
import type { CoverageAnswer } from '../watch/coverage-answer.js';
import type { Healing } from './heal.js';
import { runAudit } from './run-audit.js';
import { INGEST_CONCURRENCY, MEMORY_LIMIT, NETWORK } from './settings.js';
import type { World } from './world.js';

/** A verdict may be about more than the nine: that no process ends by itself has the number 0. */
const NO_CRASH = 0;

/** Checks all invariants, once everything was let heal. */
export async function judge(world: World, healing: Healing): Promise<Verdict[]> {
  const { database, chain, store, watcher, downloader, apiKey, memory } = world;
  await watcher.look();
  const evidence: Evidence = {
    database,
    network: NETWORK,
    kinds: KINDS,
    chain,
    readObject: store.read,
  };
  const expected = { firstBlock: chain.first, lastBlock: chain.finalized() };
  const content = await contentIsHonest(evidence);
  content.checked += downloader.files();
  content.violations.push(...downloader.wrong().slice(0, 3));
  const coverage = await coverageIsExact(evidence, expected);
  if (healing.stuck !== null)
    coverage.violations.unshift(`not well after ${healing.ms} ms: ${healing.stuck}`);
  const download = async (link: string): Promise<{ status: number; body: Buffer }> => {
    const response = await fetch(link, { headers: { authorization: `Bearer ${apiKey}` } });
    return { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
  };
  return [
    content,
    await noOverlapOnlyFinal(evidence, watcher.sightings()),
    await bytesNeverChange(evidence, watcher.sightings()),
    coverage,
    await nothingLostOrDoubled(evidence, expected, redone(world)),
    await pointersResolve(downloader.pointers(), chain, download),
    reclaimedAfterReadable(watcher.vanished()),
    noSecrets(await publicTexts(world), { ...world.secrets, 'the signing key': await signingKey(world) }),
    memoryBounded(memory.most(), () => MEMORY_LIMIT),
    await noCrash(world),
    await coverageRouteIsTrue(evidence, expected, (cursor) =>
      getText(world, `coverage${cursor === null ? '' : `?cursor=${encodeURIComponent(cursor)}`}`).then(
        (text) => JSON.parse(text) as CoverageAnswer,
      ),
    ),
    await manifestVerifies(
      evidence,
      await (await fetch(`${world.gatewayUrl}/.well-known/packhouse-manifest-keys.json`)).text(),
      (kind) => getText(world, `manifest?kind=${kind}`),
    ),
    await world.follower.finish(),
    await world.hookReceiver.finish(),
    await lakeIsPublished(evidence, expected),
    auditIsClean(await runAudit(world.getEnvironment('audit'))),
  ];
}

/** What an address under `bundle-api` answers. */
async function getText({ baseUrl, apiKey }: World, rest: string): Promise<string> {
  const response = await fetch(`${baseUrl}${apiKey}/bundle-api/${rest}`);
  const text = await response.text();
  if (response.status === 200) return text;
  throw new Error(`bundle-api/${rest} answers ${response.status}: ${text}`);
}

/** Blocks that were given whole more than once, and what may have made a job begin again. */
function redone({ nodes, tally, chain }: World): Parameters<typeof nothingLostOrDoubled>[2] {
  const fetchedAgain = [...nodes.given().values()].reduce((sum, times) => sum + times - 1, 0);
  const disturbances = Object.values(tally.read()).reduce((sum, count) => sum + count, 0);
  const struck = Object.values(nodes.struck()).reduce((sum, count) => sum + count, 0);
  return {
    fetchedAgain,
    disturbances: disturbances + struck,
    blocksEach: INGEST_CONCURRENCY * (chain.head() - chain.first + 1),
  };
}

/** The key itself, without the lines around it. */
async function signingKey({ getEnvironment }: World): Promise<string> {
  const pem = await readFile(getEnvironment('packer-1').SIGNING_KEY_FILE as string, 'utf8');
  return pem.split('\n')[1] ?? pem;
}

async function publicTexts(world: World): Promise<PublicText[]> {
  const { directory, downloader, fleet, gatewayUrl, metricsPorts, postgres } = world;
  const texts: PublicText[] = [];
  const logs = path.join(directory, 'logs');
  for (const name of await readdir(logs))
    texts.push({ name: `the log ${name}`, text: await readFile(path.join(logs, name), 'utf8') });
  const addresses = [`${gatewayUrl}/metrics`, `${gatewayUrl}/openapi.json`, `${gatewayUrl}/`];
  for (const port of metricsPorts.values()) addresses.push(`http://127.0.0.1:${port}/metrics`);
  for (const address of addresses) {
    // There are addresses for more processes than run.
    const text = await fetch(address).then(
      (response) => response.text(),
      () => null,
    );
    if (text !== null) texts.push({ name: `what ${new URL(address).pathname} answers`, text });
  }
  for (const text of downloader.refusals()) texts.push({ name: 'a refusal of the gateway', text });
  for (const text of fleet.said()) texts.push({ name: 'a message to the supervisor', text });
  const rows = await postgres.sql<{ message: string }>('SELECT message FROM packhouse.quarantine');
  for (const { message } of rows) texts.push({ name: 'a quarantine row', text: message });
  return texts;
}

async function noCrash({ fleet, postgres }: World): Promise<Verdict> {
  const findings = createFindings(
    NO_CRASH,
    'no process ends by itself, all drain in time, no alarm is false',
  );
  findings.looked(fleet.names().length);
  for (const { process, outcome, lastWords } of fleet.crashes())
    findings.violated(`${process} ended by itself with ${outcome}: ${lastWords}`);
  for (const { process, outcome, ms } of fleet.drains())
    findings.violated(`${process} did not drain on SIGTERM: ${outcome} after ${ms} ms`);
  // The honest chain never reorganises below finality, and no object is ever damaged.
  const alarms = await postgres.sql<{ name: string; message: string }>(
    'SELECT name, message FROM packhouse.alarm',
  );
  for (const { name, message } of alarms) findings.violated(`alarm ${name} was raised: ${message}`);
  return findings.verdict();
}
