import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { KINDS } from '@packhouse/chain';
import { createDatabase } from '@packhouse/database';
import { silentContext } from '@packhouse/local';
import type { HonestChain } from '../chain/honest-chain.js';
import { contentIsHonest } from '../invariants/1-content-is-honest.js';
import { noOverlapOnlyFinal } from '../invariants/2-no-overlap-only-final.js';
import { coverageIsExact } from '../invariants/4-coverage-is-exact.js';
import { nothingLostOrDoubled } from '../invariants/5-nothing-lost-or-doubled.js';
import { pointersResolve } from '../invariants/6-pointers-resolve.js';
import type { Evidence } from '../invariants/evidence.js';
import type { Downloader } from '../watch/downloader.js';

/** A gateway that is not there again by then never comes, however slow the machine is. */
const RESTART_MS = 120_000;
const PAUSE_MS = 25;
const REQUEST_MS = 10_000;

/** The published data found. */
export interface PublishedFigures {
  bundles: number;
  /** Blocks of all kinds together. */
  records: number;
  bytes: number;
  /** Violations, as sentences. */
  violations: string[];
}

/** Holds the range index and the objects against what the honest node has: invariants 1, 2, 4 and 5. */
export async function checkPublished(request: {
  databaseUrl: string;
  /** The folder of `packhouse local`. */
  data: string;
  chain: HonestChain;
  network: string;
}): Promise<PublishedFigures> {
  const { databaseUrl, data, chain, network } = request;
  const context = silentContext();
  const database = createDatabase({ connectionString: databaseUrl, context, applicationName: 'kill test' });
  try {
    const evidence: Evidence = {
      database,
      network,
      kinds: KINDS,
      chain,
      readObject: (key) => readFile(path.join(data, 'objects', key)).catch(() => null),
    };
    const whole = { firstBlock: chain.first, lastBlock: chain.head() };
    const verdicts = [
      await contentIsHonest(evidence),
      await noOverlapOnlyFinal(evidence, []),
      await coverageIsExact(evidence, whole),
      await nothingLostOrDoubled(evidence, whole),
    ];
    const totals = await Promise.all(KINDS.map((kind) => database.network(network).bundles.totals(kind)));
    const sum = (of: (each: (typeof totals)[number]) => number): number =>
      totals.reduce((all, each) => all + of(each), 0);
    const violations = verdicts.flatMap((verdict) => verdict.violations);
    for (const [at, { blocks }] of totals.entries()) {
      if (blocks !== whole.lastBlock - whole.firstBlock + 1)
        violations.push(`${KINDS[at]}: the index counts ${blocks} blocks`);
    }
    return {
      bundles: sum(({ bundles }) => bundles),
      records: sum(({ blocks }) => blocks),
      bytes: sum(({ bytes }) => bytes),
      violations,
    };
  } finally {
    await database.close();
  }
}

/** Follows every link that a client was ever handed out, and says what was wrong with those and with its answers. */
export async function followAll(client: Downloader, chain: HonestChain, apiKey: string): Promise<string[]> {
  const end = Date.now() + RESTART_MS;
  const download = async (link: string): Promise<{ status: number; body: Buffer }> => {
    for (;;) {
      const answer = await get(link, apiKey);
      // The last kill may have been the gateway's, which is being started again.
      if (answer !== undefined && (answer.status < 500 || Date.now() > end)) return answer;
      if (Date.now() > end) return { status: 0, body: Buffer.from('nothing') };
      await delay(PAUSE_MS);
    }
  };
  const { violations } = await pointersResolve(client.pointers(), chain, download);
  // Not there yet is an answer; others are not those of a gateway that works, unless it is being started again.
  const strange = Object.keys(client.statuses()).filter(
    (status) => !['200', '404', 'none'].includes(status) && Number(status) < 500,
  );
  const refused = strange.map((status) => `the gateway answered ${status}: ${client.refusals().join('; ')}`);
  return [...violations, ...client.wrong(), ...refused];
}

async function get(link: string, apiKey: string): Promise<{ status: number; body: Buffer } | undefined> {
  try {
    const headers = { authorization: `Bearer ${apiKey}` };
    const response = await fetch(link, { headers, signal: AbortSignal.timeout(REQUEST_MS) });
    return { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
  } catch {
    return undefined;
  }
}
