import type { FeedStep } from '@packhouse/manifest';
import type { HonestChain } from '../chain/honest-chain.js';
import { createFindings, type Verdict } from '../invariants/verdict.js';
import type { Random } from '../random.js';
import { createFeedTable, FOLLOWED } from './feed-table.js';

/** A client that follows the feed all the time, and dies now and then before it has kept what it got. */
export interface Follower {
  /** Follows up to the head; then what it has must be the chain. */
  finish(): Promise<Verdict>;
  stop(): Promise<void>;
}

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
  const table = createFeedTable(chain, findings);
  let cursor: string | undefined;
  let last: FeedStep | undefined;
  let stopped = false;

  const get = (url: string): Promise<Response> =>
    fetch(url, { headers: { authorization: `Bearer ${apiKey}` }, signal: AbortSignal.timeout(PATIENCE_MS) });
  const read = async (): Promise<FeedStep[]> => {
    const from = cursor === undefined ? `kinds=${FOLLOWED}&from=${chain.first}` : `cursor=${cursor}`;
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
