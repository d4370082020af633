import { gunzipSync } from 'node:zlib';
import { KINDS, type Kind } from '@packhouse/chain';
import { canonicalText } from '../chain/canonical.js';
import type { HonestChain } from '../chain/honest-chain.js';
import type { Random } from '../random.js';
import { type CoverageAnswer, checkCoverageAnswer, parseRange } from './coverage-answer.js';

/** A pointer that was handed out. */
export interface HandedOut {
  kind: Kind;
  block: number;
  range: string;
  link: string;
}

/** Where a holder of a key reads. */
export interface Access {
  baseUrl: string;
  apiKey: string;
}

/** A client that asks and downloads all the time. */
export interface Downloader {
  pointers(): readonly HandedOut[];
  /** Files that came whole. */
  files(): number;
  /** What was wrong with files that came whole. */
  wrong(): readonly string[];
  /** Texts of all answers that were not 200. */
  refusals(): readonly string[];
  /** Answers by status. */
  statuses(): Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

const PAUSE_MS = 40;
const PATIENCE_MS = 20_000;

/** Starts a client at a gateway that serves this chain. */
export function startDownloader(options: {
  /** Undefined: nowhere yet. */
  access: () => Access | undefined;
  chain: HonestChain;
  random: Random;
  /** The highest block that is worth asking for; default: the head. */
  newest?: () => number;
  /** One of so many pointers is followed at once; default: each. */
  followEvery?: number;
  /** Told of each request whether the gateway could answer it. */
  told?: (answered: boolean) => void;
}): Downloader {
  const { access, chain, random, newest = chain.head, followEvery = 1, told = () => undefined } = options;
  const pointers = new Map<string, HandedOut>();
  const wrong: string[] = [];
  const refusals = new Set<string>();
  const statuses: Record<string, number> = {};
  let files = 0;
  let stopped = false;

  const ask = async ({ apiKey }: Access, url: string): Promise<Response> => {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    told(response.status < 500);
    const name = String(response.status);
    statuses[name] = (statuses[name] ?? 0) + 1;
    return response;
  };
  const lookAtCoverage = async (at: Access): Promise<void> => {
    const answer = await ask(at, `${at.baseUrl}${at.apiKey}/bundle-api/coverage`);
    if (answer.status !== 200) return void refusals.add(await answer.text());
    const problem = checkCoverageAnswer((await answer.json()) as CoverageAnswer);
    if (problem !== null) wrong.push(`coverage: ${problem}`);
  };
  const once = async (): Promise<void> => {
    const at = access();
    if (at === undefined) return;
    if (random.int(20) === 0) return lookAtCoverage(at);
    const kind = random.pick(KINDS);
    const block = random.between(chain.first, newest());
    const answer = await ask(at, `${at.baseUrl}${at.apiKey}/bundle-api/${kind}/${block}`);
    if (answer.status !== 200) return void refusals.add(await answer.text());
    const { range, download_link: link } = (await answer.json()) as { range: string; download_link: string };
    pointers.set(`${kind} ${block} ${link}`, { kind, block, range, link });
    if (pointers.size % followEvery !== 0) return;
    const file = await ask(at, link);
    if (file.status !== 200) return void refusals.add(await file.text());
    const body = Buffer.from(await file.arrayBuffer());
    files += 1;
    const problem = checkFile(body, { kind, range, block }, (number) => chain.ever(number));
    if (problem !== null) wrong.push(`${link}: ${problem}`);
  };
  const running = (async () => {
    while (!stopped) {
      // The gateway is being killed now and then.
      await once().catch(() => {
        told(false);
        statuses.none = (statuses.none ?? 0) + 1;
      });
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  })();
  return {
    pointers: () => [...pointers.values()],
    files: () => files,
    wrong: () => wrong,
    refusals: () => [...refusals],
    statuses: () => statuses,
    async stop() {
      stopped = true;
      await running;
    },
  };
}

/** Whether a pointer's range lacks the block that was asked for, in words. */
export function checkPlace({ range, block }: Pick<HandedOut, 'range' | 'block'>): string | null {
  const [start, end] = parseRange(range);
  return block < start || block > end ? `range ${range} does not hold ${block}` : null;
}

/** What is wrong with a file: each record has to be the canonical text of one of the blocks of its number. */
export function checkFile(
  body: Buffer,
  asked: { kind: Kind; range: string; block: number },
  toBlocks: (number: number) => ReturnType<HonestChain['ever']>,
): string | null {
  const misplaced = checkPlace(asked);
  if (misplaced !== null) return misplaced;
  const [start, end] = parseRange(asked.range);
  let records: unknown;
  try {
    records = JSON.parse(gunzipSync(body).toString());
  } catch (error) {
    return `no gzip of JSON: ${(error as Error).message}`;
  }
  if (!Array.isArray(records) || records.length !== end - start + 1) {
    return `${Array.isArray(records) ? records.length : 'no'} records, expected ${end - start + 1}`;
  }
  for (const [index, record] of records.entries()) {
    const number = start + index;
    const text = JSON.stringify(record);
    if (!toBlocks(number).some((block) => canonicalText(block, asked.kind) === text)) {
      return `${asked.kind} of block ${number} are not what an honest node has`;
    }
  }
  return null;
}
