import type { Kind } from '@packhouse/chain';
import type { FeedStep } from '@packhouse/manifest';
import type { HonestChain } from '../chain/honest-chain.js';
import { createFindings, type Findings, type Verdict } from '../invariants/verdict.js';
import type { Random } from '../random.js';
import { checkFile } from './downloader.js';

/** A client that follows the feed all the time, and dies now and then before it has kept what it got. */
export interface Follower {
  /** Follows up to the head; then what it has must be the chain. */
  finish(): Promise<Verdict>;
  stop(): Promise<void>;
}

/** Blocks commit to what the others have, so that two kinds show whether blocks come once and in order. */
const KINDS: readonly Kind[] = ['blocks', 'logs'];
const PAUSE_MS = 100;
const PATIENCE_MS = 20_000;
/** One of so many answers is lost with the client. */
const DIES = 5;

/** Starts one at the gateway of a chain. SPEC.md, invariant 13. */
export function startFollower(options: {
  baseUrl: string;
  apiKey: string;
  chain: HonestChain;
  random: Random;
}): Follower {
  const { baseUrl, apiKey, chain, random } = options;
  const findings = createFindings(13, 'a feed has each block once, in order, and undoes what was abandoned');
  const table = createTable(chain, findings);
  let cursor: string | undefined;
  let last: FeedStep | undefined;
  let stopped = false;

  const get = (url: string): Promise<Response> =>
    fetch(url, { headers: { authorization: `Bearer ${apiKey}` }, signal: AbortSignal.timeout(PATIENCE_MS) });
  const read = async (): Promise<FeedStep[]> => {
    const from = cursor === undefined ? `kinds=${KINDS}&from=${chain.first}` : `cursor=${cursor}`;
    const answer = await get(`${baseUrl}${apiKey}/bundle-api/feed?${from}&wait=1&limit=40`);
    const text = await answer.text();
    if (answer.status === 200)
      return text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as FeedStep);
    // It is draining, or Postgres is away; anything else is no answer to a good cursor.
    if (answer.status !== 503) findings.violated(`the feed answers ${answer.status}: ${text.slice(0, 200)}`);
    throw new Error(`status ${answer.status}`);
  };
  const once = async (): Promise<void> => {
    const steps = await read();
    const kept = random.int(DIES) === 0 ? random.int(steps.length) : steps.length;
    for (const step of steps.slice(0, kept)) {
      const file = step.step === 'bundle' ? await get(step.download_link) : undefined;
      if (file !== undefined && file.status !== 200) throw new Error(`status ${file.status}`);
      table.apply(step, file === undefined ? undefined : Buffer.from(await file.arrayBuffer()));
      cursor = step.cursor;
      last = step;
    }
  };
  const running = (async () => {
    while (!stopped) {
      // The gateway is being killed now and then: the cursor is still good.
      await once().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  })();
  const stop = async (): Promise<void> => {
    stopped = true;
    await running;
  };
  const isAtHead = (): boolean => last?.step === 'waiting' && last.block === chain.head() + 1;
  return {
    stop,
    async finish() {
      await stop();
      const until = Date.now() + 6 * PATIENCE_MS;
      while (!isAtHead() && Date.now() < until) await once().catch(() => undefined);
      if (!isAtHead())
        findings.violated(`it does not come to the head ${chain.head()}: ${JSON.stringify(last)}`);
      table.compare(chain.head());
      return findings.verdict();
    },
  };
}

/** The hashes of what was delivered, by kind and block, held against the chain. */
function createTable(chain: HonestChain, findings: Findings) {
  const tables = new Map<Kind, Map<number, string>>(KINDS.map((kind) => [kind, new Map()]));
  let finalTo = chain.first - 1;

  const put = (kind: Kind, block: number, hash: string): void => {
    findings.looked();
    const mine = tables.get(kind) as Map<number, string>;
    if (mine.has(block)) findings.violated(`block ${block} of ${kind} comes twice`);
    if (block > chain.first && !mine.has(block - 1))
      findings.violated(`${kind} of ${block} come before those of ${block - 1}`);
    mine.set(block, hash);
  };
  const compare = (to: number): void => {
    for (const [kind, mine] of tables) {
      for (let block = chain.first; block <= to; block++) {
        const [got, expected] = [mine.get(block), chain.block(block)?.block.hash];
        if (got !== expected) findings.violated(`${kind} of ${block}: expected ${expected}, got ${got}`);
      }
    }
  };
  const putFile = (kind: Kind, range: string, from: number, body: Buffer): void => {
    // Files are of final blocks, which no branch replaces.
    const toBlocks = (number: number) => [chain.block(number)].filter((block) => block !== undefined);
    const problem = checkFile(body, { kind, range, block: from }, toBlocks);
    if (problem !== null) findings.violated(`the file ${range} of ${kind}: ${problem}`);
    for (let block = from; block <= Number(range.split('-')[1]); block++) {
      put(kind, block, chain.block(block)?.block.hash ?? '');
    }
  };
  return {
    compare,
    /** `body`: the file of a bundle. */
    apply(step: FeedStep, body: Buffer | undefined): void {
      if (step.step === 'bundle') putFile(step.kind, step.range, step.from, body as Buffer);
      else if (step.step === 'new')
        for (const kind of Object.keys(step.files) as Kind[]) put(kind, step.block, step.hash);
      else if (step.step === 'undo') {
        if (step.to.block < finalTo)
          findings.violated(`${step.to.block} is undone to, and ${finalTo} was final`);
        for (const mine of tables.values())
          for (const block of mine.keys()) if (block > step.to.block) mine.delete(block);
      } else if (step.step === 'final') {
        if (step.block <= finalTo) findings.violated(`${step.block} becomes final behind ${finalTo}`);
        finalTo = step.block;
        if (step.hash !== chain.block(step.block)?.block.hash)
          findings.violated(`final ${step.block} is not ${step.hash}`);
        compare(finalTo);
      } else if (step.step === 'skipped') findings.violated('nothing was to be skipped');
    },
  };
}
