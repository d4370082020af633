import { gunzipSync } from 'node:zlib';
import type { Kind } from '@packhouse/chain';
import { seededRandom } from '@packhouse/local';
import { parseFeedStep } from '@packhouse/manifest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, ask } from '../testing/ask.js';
import { hashOf, startTestGateway, type TestGateway } from '../testing/test-gateway.js';

/* Links of new blocks under reorganisations, packing and reclaim: SPEC.md, invariant 6. */

const SEEDS = process.env.SEEDS === 'many' ? 40 : 3;
/** The first block of a seed, below the border of a segment, so that staging is reclaimed on the way. */
const toFirst = (seed: number): number => 4_096 * seed - 8;
const MOVES = 40;

let at: TestGateway;
let key: string;
beforeAll(async () => {
  at = await startTestGateway();
  ({ key } = await at.makeKey());
});
afterAll(() => at.close());

const get = (url: string, headers: Record<string, string> = {}): Promise<Answer> =>
  ask(at.url, url.replace(at.url, ''), { headers: { authorization: `Bearer ${key}`, ...headers } });
const textOf = ({ body }: Answer): string => gunzipSync(body).toString().slice(1, -1);

/** The chain as it really is: the branch of each block from the first one on. */
function createChain(network: string, kinds: readonly Kind[], seed: number) {
  const first = toFirst(seed);
  const random = seededRandom(seed);
  const { staging } = at.database.network(network);
  const branches: string[] = [];
  let last = 0;
  let published = first - 1;
  /** Ends that were replaced, with the block where they began. */
  const before: { from: number; branches: string[] }[] = [];
  const head = (): number => first + branches.length - 1;
  const isEmpty = (block: number, branch: string): boolean =>
    Number.parseInt(hashOf(block, branch).slice(2, 3), 16) < 8;
  const add = async (branch: string): Promise<void> => {
    const block = head() + 1;
    const parent = branches.at(-1) ?? 'a';
    branches.push(branch);
    await at.stage(block, block, { network, kinds, branch, parent, isEmpty: () => isEmpty(block, branch) });
  };
  const grow = async (blocks = 1 + random.below(3)): Promise<void> => {
    for (let n = 0; n < blocks; n += 1) await add(`${last}`);
    await at.database.network(network).head.set({
      number: head(),
      finalized: published,
      hash: hashOf(head(), branches.at(-1)),
    });
  };
  return {
    head,
    next: () => published + 1,
    hashAt: (block: number) => {
      const branch = branches[block - first];
      return branch === undefined ? null : hashOf(block, branch);
    },
    moves: {
      grow,
      async reorganise(): Promise<void> {
        const from = Math.max(published + 1, head() - random.below(4));
        if (from > head()) return;
        await staging.abandon(from);
        const gone = branches.splice(from - first);
        const old = before.find((end) => end.from === from);
        before.unshift({ from, branches: gone });
        last += 1;
        // The follower may be late, and the chain may come back to what it had.
        if (random.unit() < 0.3) return;
        if (old === undefined || random.unit() < 0.4) await grow(gone.length);
        else for (const branch of old.branches) await add(branch);
      },
      async publish(): Promise<void> {
        const to = Math.min(head() - 2, published + 1 + random.below(9));
        if (to <= published) return;
        await at.publish(published + 1, to, kinds, network);
        published = to;
        before.splice(0, Number.POSITIVE_INFINITY, ...before.filter(({ from }) => from > published));
      },
      reclaim: async () => void (await staging.reclaim()),
    },
  };
}

describe.each([
  ['ethereum', ['blocks', 'logs']],
  ['logsonly', ['logs']],
] as [string, Kind[]][])('of %s', (network, kinds) => {
  it.each(Array.from({ length: SEEDS }, (_, seed) => seed + 1))(
    'every link that was ever given answers with its own block, or 410: seed %i',
    async (seed) => {
      const random = seededRandom(-seed);
      const chain = createChain(network, kinds, seed);
      await chain.moves.grow(4);
      const given = new Map<string, { kind: Kind; block: number; hash: string }>();
      const note = (kind: Kind, block: number, link: string): void => {
        const [, hash] = /\?hash=(0x[0-9a-f]{64})$/.exec(link) ?? [];
        if (hash !== undefined) given.set(link, { kind, block, hash });
      };
      const collect = async (): Promise<void> => {
        const block = chain.next() + random.below(4);
        const kind = random.pick(kinds);
        const pointer = await ask(at.url, `/${network}/v1/${key}/bundle-api/${kind}/${block}`);
        if (pointer.status === 200) note(kind, block, pointer.json().download_link as string);
        const query = `kinds=${kinds.join()}&from=${block}&wait=0`;
        const feed = await ask(at.url, `/${network}/v1/${key}/bundle-api/feed?${query}`);
        for (const line of feed.text.split('\n').filter(Boolean)) {
          const step = parseFeedStep(line, 'A line');
          if (step.step !== 'new') continue;
          for (const [name, link] of Object.entries(step.files)) note(name as Kind, step.block, link);
        }
      };
      const seen = new Set<number>();
      const check = async (): Promise<void> => {
        for (const [link, { kind, block, hash }] of given) {
          const answer = await get(link);
          seen.add(answer.status);
          const now = chain.hashAt(block);
          expect([link, answer.status]).toEqual([link, now === hash ? 200 : 410]);
          if (answer.status === 200) {
            expect(['[]', expect.stringContaining(hash)]).toContainEqual(textOf(answer));
            if (kind === 'blocks') expect(textOf(answer)).toContain(hash);
          } else {
            expect(answer.json()).toMatchObject({ reason: 'reorganised', kind, block, hash });
            // Nothing says the hash of a published block without records, where no blocks are published.
            expect(kinds.includes('blocks') ? [now] : [now, null]).toContain(answer.json().replacedBy);
            expect(answer.headers['cache-control']).toBe('no-store');
          }
        }
      };
      const { grow, publish, reclaim, reorganise } = chain.moves;
      for (let n = 0; n < MOVES; n += 1) {
        await collect();
        await random.pick([grow, grow, reorganise, reorganise, publish, reclaim])();
        at.time.offset += 1_000;
        if (n % 8 === 7) await check();
      }
      await grow(12);
      await publish();
      await publish();
      await reclaim();
      await check();
      expect([...seen].sort()).toEqual([200, 410]);
    },
  );
});
