import { KINDS } from '@packhouse/chain';
import { createDatabase } from '@packhouse/database';
import { freshDatabase, silentContext } from '@packhouse/local';
import { expect, inject, it } from 'vitest';
import { fillIndex } from './fill-index.js';

it('fills the index as publishing would have done, as far as readers can tell', async () => {
  const fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  const stop = new AbortController();
  const context = silentContext({ signal: stop.signal });
  const database = createDatabase({ connectionString: fresh.url, context, applicationName: 'test' });
  try {
    await database.networks.register({ id: 'ethereum', chainId: 1 });
    const index = await fillIndex(fresh.url, 'ethereum', 500);
    expect(index).toMatchObject({ rows: 500, lastBlock: 1_199 });
    for (const kind of KINDS) {
      const bundle = await database.network('ethereum').bundles.covering(kind, 1_000);
      expect(bundle).toMatchObject({
        kind,
        firstBlock: 996,
        lastBlock: 1_007,
        objectKey: `ethereum/${kind}/996-1007.json.gz`,
      });
      expect(bundle?.fragments.at(-1)?.lastBlock).toBe(1_007);
      expect((await database.network('ethereum').coverage(kind)).published).toEqual([
        { firstBlock: 0, lastBlock: 1_199 },
      ]);
      const totals = await database.network('ethereum').bundles.totals(kind);
      expect(totals).toMatchObject({ bundles: 100, blocks: 1_200 });
      expect(await database.network('ethereum').locate(kind, 1_200)).toEqual({ state: 'absent' });
    }
    const range = { firstBlock: 0, lastBlock: 1_199 };
    const whole = await database.network('ethereum').holes.page({ kinds: KINDS, range, limit: 1 });
    expect(whole.kinds.map(({ published, holes }) => ({ published, holes }))).toEqual(
      KINDS.map(() => ({ published: [range], holes: [] })),
    );

    const gapped = await fillIndex(fresh.url, 'ethereum', 500, { gapEvery: 10 });
    expect(gapped).toMatchObject({ rows: 500, lastBlock: 1_307 });
    const { kinds } = await database.network('ethereum').holes.page({
      kinds: KINDS,
      range: { firstBlock: 0, lastBlock: 1_307 },
      limit: 20,
    });
    for (const { published, holes } of kinds) {
      expect([published.length, holes.length]).toEqual([10, 9]);
      expect(holes[0]).toMatchObject({ firstBlock: 120, lastBlock: 131 });
    }
    expect((await database.network('ethereum').coverage('logs')).published).toHaveLength(10);
  } finally {
    await database.close();
    await fresh.drop();
  }
});
