import { beforeAll, describe, expect, test } from 'vitest';
import { jsonLines } from '../../testing/run.js';
import { useCommands } from '../../testing/use-commands.js';

const on = useCommands();
beforeAll(async () => {
  await on.database.networks.register({ id: 'main', chainId: 1 });
  await on.database.networks.register({ id: 'other', chainId: 2 });
  const kinds = ['blocks', 'transactions', 'receipts', 'logs', 'traces'] as const;
  await on.database.network('other').backfills.add({ kinds, from: 5, to: null, priority: 100 });
});

describe('status', () => {
  test('per network and kind: wanted, staged, published, quarantined, rate, ETA', async () => {
    await on.database.network('other').head.set({ number: 14, hash: `0x${'ab'.repeat(32)}`, finalized: 10 });
    await on.database.network('other').quarantine.put({
      firstBlock: 7,
      kinds: ['traces'],
      cause: 'PROOF_FAILED',
      message: 'the root differs',
      upstream: null,
      payloadDigest: null,
    });
    const lines = (await on.done('status', '--network', 'other')).out.trim().split('\n');
    expect(lines[0]).toMatch(
      /^NETWORK +KIND +REQUESTED +STAGED +PUBLISHED +QUARANTINED +BUNDLES +SIZE +BLOCKS\/S +ETA$/,
    );
    expect(lines.slice(1, 6).map((line) => line.split(/ {2,}/))).toEqual(
      ['blocks', 'transactions', 'receipts', 'logs', 'traces'].map((kind) => [
        'other',
        kind,
        '10',
        '0',
        '0',
        kind === 'traces' ? '1' : '0',
        '0',
        '0 B',
        '0.0',
        '-',
      ]),
    );
  });

  test('as JSON: one object a network, the holes by range', async () => {
    const statuses = jsonLines(await on.done('status', '--json'));
    expect(statuses.map((status) => status.network)).toEqual(['main', 'other']);
    expect(statuses[1]).toMatchObject({ head: 14, finalized: 10 });
    const kinds = statuses[1]?.kinds as Record<string, unknown>[];
    expect(kinds.find((kind) => kind.kind === 'traces')).toMatchObject({
      requested: 10,
      quarantined: 1,
      missing: [
        { from: 5, to: 6 },
        { from: 8, to: 14 },
      ],
      blocksPerSecond: 0,
      etaSeconds: null,
    });
  });

  test('a network that the database does not know is refused with those that it knows', async () => {
    expect(await on.refused(64, 'status', '--network', 'nowhere')).toMatch(
      /network "nowhere"\. Networks: main, other\. \[NETWORK_UNKNOWN\]$/,
    );
  });
});
