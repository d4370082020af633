import { afterEach, expect, it, vi } from 'vitest';
import { makeBundle, makeRun } from '../testing/make-run.js';
import { type OpenDatabase, openDatabase, silentContext } from '../testing/open-database.js';
import { createNotices, parseNotice } from './notices.js';

let open: OpenDatabase | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const WAIT = { timeout: 20_000 };

/** Listens with another process's handle, once it hears. */
async function hear(at: OpenDatabase) {
  const changes: ReturnType<typeof parseNotice> = [];
  let lost = 0;
  const listening = at.another().listen({
    changed: (change) => void changes.push(change),
    lost: () => {
      lost += 1;
    },
  });
  await vi.waitUntil(() => lost === 1, WAIT);
  return { changes, lost: () => lost, listening };
}

it('tells other processes what was staged, published, abandoned, quarantined and made final', async () => {
  open = await openDatabase();
  const { changes, listening } = await hear(open);
  const expectNext = async (firstBlock: number, lastBlock: number) => {
    await vi.waitUntil(() => changes.length > 0, WAIT);
    expect(changes.splice(0)).toEqual([{ network: 'main', firstBlock, lastBlock }]);
  };
  await open.main.staging.stage(makeRun(10, 19));
  await expectNext(10, 19);
  await open.main.bundles.publish(makeBundle('logs', 10, 14));
  await expectNext(10, 14);
  await open.main.staging.abandon(18);
  await expectNext(18, Number.MAX_SAFE_INTEGER);
  await open.main.head.set({ number: 17, hash: `0x${'11'.repeat(32)}`, finalized: 15 });
  await expectNext(15, 17);
  await open.main.quarantine.put({
    firstBlock: 18,
    kinds: ['logs'],
    cause: 'PROOF_FAILED',
    message: 'A test.',
    upstream: null,
    payloadDigest: null,
  });
  await expectNext(18, 18);
  await listening.close();
});

it('says that notices may be lost when its connection ends, and hears again', async () => {
  open = await openDatabase();
  const { changes, lost, listening } = await hear(open);
  await open.sql(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'`,
  );
  await vi.waitUntil(() => lost() >= 3, WAIT);
  await open.main.staging.stage(makeRun(0, 1));
  await vi.waitUntil(() => changes.length > 0, WAIT);
  await listening.close();
});

it('sends what happens at once together, and one range instead of very many', async () => {
  open = await openDatabase();
  const sent: string[] = [];
  const notices = createNotices({} as never, silentContext(), async (text) => void sent.push(text));
  notices.announce({ network: 'main', firstBlock: 0, lastBlock: 4 });
  notices.announce({ network: 'main', firstBlock: 5, lastBlock: 9 });
  notices.announce({ network: 'other', firstBlock: 7, lastBlock: 7 });
  for (let block = 0; block < 100; block += 2)
    notices.announce({ network: 'many', firstBlock: block, lastBlock: block });
  await notices.flush();
  expect(sent.flatMap(parseNotice)).toEqual([
    { network: 'main', firstBlock: 0, lastBlock: 9 },
    { network: 'other', firstBlock: 7, lastBlock: 7 },
    { network: 'many', firstBlock: 0, lastBlock: 98 },
  ]);
});

it('does not fail a change whose notice cannot be sent', async () => {
  open = await openDatabase();
  const notices = createNotices({} as never, silentContext(), () => Promise.reject(new Error('away')));
  notices.announce({ network: 'main', firstBlock: 0, lastBlock: 4 });
  await expect(notices.flush()).resolves.toBeUndefined();
  expect(parseNotice('from a later version')).toEqual([]);
});
