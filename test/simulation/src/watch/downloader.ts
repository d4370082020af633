import { gunzipSync } from 'node:zlib';
import { KINDS, type Kind } from '@packhouse/chain';
import { canonicalText } from '../chain/canonical.js';
import type { HonestChain } from '../chain/honest-chain.js';
import type { Random } from '../random.js';
import { type CoverageAnswer, checkCoverageAnswer } from './coverage-answer.js';

/** A pointer that was handed out. */
export interface HandedOut {
  kind: Kind;
  block: number;
  range: string;
  link: string;
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
  baseUrl: string;
  apiKey: string;
  chain: HonestChain;
  random: Random;
}): Downloader {
  const { baseUrl, apiKey, chain, random } = options;
  const pointers = new Map<string, HandedOut>();
  const wrong: string[] = [];
  const refusals = new Set<string>();
  const statuses: Record<string, number> = {};
  let files = 0;
  let stopped = false;

  const ask = async (url: string): Promise<Response> => {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const name = String(response.status);
    statuses[name] = (statuses[name] ?? 0) + 1;
    return response;
  };
  const lookAtCoverage = async (): Promise<void> => {
    const answer = await ask(`${baseUrl}${apiKey}/bundle-api/coverage`);
    if (answer.status !== 200) return void refusals.add(await answer.text());
    const problem = checkCoverageAnswer((await answer.json()) as CoverageAnswer);
    if (problem !== null) wrong.push(`coverage: ${problem}`);
  };
  const once = async (): Promise<void> => {
    if (random.int(20) === 0) return lookAtCoverage();
    const kind = random.pick(KINDS);
    const block = random.between(chain.first, chain.head());
    const answer = await ask(`${baseUrl}${apiKey}/bundle-api/${kind}/${block}`);
    if (answer.status !== 200) return void refusals.add(await answer.text());
    const { range, download_link: link } = (await answer.json()) as { range: string; download_link: string };
    pointers.set(`${kind} ${block} ${link}`, { kind, block, range, link });
    const file = await ask(link);
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

/** What is wrong with a file: each record has to be the canonical text of one of the blocks of its number. */
export function checkFile(
  body: Buffer,
  asked: { kind: Kind; range: string; block: number },
  toBlocks: (number: number) => ReturnType<HonestChain['ever']>,
): string | null {
  const [start, end] = asked.range.split('-').map(Number) as [number, number];
  if (asked.block < start || asked.block > end) return `range ${asked.range} does not hold ${asked.block}`;
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
