import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { KINDS, type Kind } from '@packhouse/chain';
import { seededRandom } from '@packhouse/local';
import type { ServedChain } from '@packhouse/replay-node';
import { expectedRecord } from './make-chain.js';
import { createOutages, type Outage } from './outages.js';

/** Where a holder of a key reads. */
export interface Access {
  baseUrl: string;
  apiKey: string;
}

/** Blocks of a link that were pointed to, by kind. */
interface Pointed {
  kind: Kind;
  blocks: Set<number>;
}

/** A client that reads the whole time. */
export interface GatewayClient {
  /** Begins to read (or goes on elsewhere). */
  open(access: Access): void;
  /** Violations seen by the client, as sentences. */
  violations: string[];
  counts: { requests: number; failed: number; pointers: number; downloads: number };
  outages(): Outage[];
  /** Stops reading; resolves when the last answer is in. */
  stop(): Promise<void>;
  /** Follows every link that was ever handed out. Returns how many there are. */
  followAll(): Promise<number>;
}

const PAUSE_MS = 25;
const REQUEST_MS = 10_000;
/** A gateway that is not there again by then never comes, however slow the machine is. */
const RESTART_MS = 120_000;
/** How far above the newest block that was seen the client asks too. */
const AHEAD = 40;
/** One of so many pointers is followed at once. */
const FOLLOW_EVERY = 8;

/** Makes a client that asks for pointers of random blocks, follows some, and remembers all. */
export function createGatewayClient(chain: ServedChain, seed: number): GatewayClient {
  const random = seededRandom(seed);
  const outages = createOutages();
  const violations: string[] = [];
  const counts = { requests: 0, failed: 0, pointers: 0, downloads: 0 };
  const links = new Map<string, Pointed>();
  let access: Access | undefined;
  let stopped = false;
  let reading: Promise<void> | undefined;
  let newest = chain.firstNumber;

  /** Null if nobody answered, or the gateway could not. */
  const ask = async (url: string): Promise<Response | null> => {
    counts.requests++;
    try {
      const response = await fetch(url, {
        headers: { authorization: `Bearer ${access?.apiKey}` },
        signal: AbortSignal.timeout(REQUEST_MS),
      });
      if (response.status < 500) {
        outages.good(Date.now());
        return response;
      }
      await response.body?.cancel();
    } catch {
      // Refused, reset, or too late: it is being started again.
    }
    counts.failed++;
    outages.bad();
    return null;
  };

  const checkFile = async (link: string, response: Response, { kind, blocks }: Pointed): Promise<void> => {
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.status !== 200) {
      violations.push(
        `${link} was handed out and answers ${response.status}: ${bytes.toString().slice(0, 200)}`,
      );
      return;
    }
    const name = /\/(\d+)-(\d+)\.json\.gz$/.exec(new URL(link).pathname);
    const [start, end] = [Number(name?.[1]), Number(name?.[2])];
    const records = JSON.parse(gunzipSync(bytes).toString()) as unknown[];
    if (records.length !== end - start + 1) {
      violations.push(`${link} holds ${records.length} records`);
      return;
    }
    for (const block of blocks) {
      const expected = chain.block(block);
      const found = JSON.stringify(records[block - start]);
      if (expected === undefined || found !== expectedRecord(expected, kind)) {
        violations.push(`${link} holds something else than the node's ${kind} of block ${block}`);
      }
    }
  };

  const follow = async (link: string, pointed: Pointed): Promise<boolean> => {
    const response = await ask(link);
    if (response === null) return false;
    try {
      await checkFile(link, response, pointed);
      counts.downloads++;
      return true;
    } catch {
      // The connection ended in the middle of the body.
      counts.failed++;
      outages.bad();
      return false;
    }
  };

  const readOnce = async ({ baseUrl, apiKey }: Access): Promise<void> => {
    const kind = random.pick(KINDS);
    const reach = Math.min(chain.lastNumber, newest + AHEAD) - chain.firstNumber + 1;
    const block = chain.firstNumber + random.below(reach);
    const response = await ask(`${baseUrl}${apiKey}/bundle-api/${kind}/${block}`);
    if (response === null) return;
    const text = await response.text().catch(() => null);
    // Not there yet is an answer; the others are not those of a gateway that works.
    if (text === null || response.status === 404) return;
    if (response.status !== 200) {
      violations.push(`the pointer of ${kind} ${block} answers ${response.status}: ${text.slice(0, 200)}`);
      return;
    }
    const { download_link: link } = JSON.parse(text) as { download_link: string };
    counts.pointers++;
    newest = Math.max(newest, block);
    const pointed = links.get(link) ?? { kind, blocks: new Set<number>() };
    links.set(link, pointed);
    pointed.blocks.add(block);
    if (counts.pointers % FOLLOW_EVERY === 0) await follow(link, { kind, blocks: new Set([block]) });
  };

  return {
    violations,
    counts,
    outages: () => outages.list(),
    open(next) {
      access = next;
      reading ??= (async () => {
        while (!stopped) {
          await readOnce(access as Access);
          await delay(PAUSE_MS);
        }
      })();
      reading.catch((error: unknown) => violations.push(`the client could not go on: ${String(error)}`));
    },
    async stop() {
      stopped = true;
      await reading?.catch(() => undefined);
    },
    async followAll() {
      const end = Date.now() + RESTART_MS;
      for (const [link, pointed] of links) {
        let answered = await follow(link, pointed);
        // The last kill may have been the gateway's, which is being started again.
        for (; !answered && Date.now() < end; answered = await follow(link, pointed)) await delay(PAUSE_MS);
        if (!answered) violations.push(`${link} was handed out and nobody answers`);
      }
      return links.size;
    },
  };
}
