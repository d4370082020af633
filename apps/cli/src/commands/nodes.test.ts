import { expect, test } from 'vitest';
import { jsonLines } from '../testing/run.js';
import { useCommands } from '../testing/use-commands.js';

const on = useCommands();
const report = {
  ...{ state: 'ok', client: null, head: 100, inFlight: 2, maxInFlight: 8, lies: 0, keptBack: null },
  methods: [{ method: 'eth_getLogs', calls: 3, ms: 40 }],
  errors: [{ meaning: 'NODE_TIMEOUT', calls: 1 }],
  ...{ lastError: 'it hung', can: ['the finalized tag'], lacks: ['traces'] },
} as const;
const [INGESTER, GATEWAY] = ['1', '2'].map((n) => `${n.repeat(8)}-0000-4000-8000-000000000000`) as [
  string,
  string,
];
const NODE = { network: 'main', provider: 'cheap' };

test('nodes are listed, merged over processes, and cordoned with a reason that the log keeps', async () => {
  const { changes, nodes } = on.database;
  expect((await on.done('nodes', 'list')).out).toMatch(/^No ingester and no gateway reported a node /);
  await nodes.report({ process: INGESTER, role: 'ingester', host: 'one' }, [
    { ...NODE, upstream: 'a', report: { ...report, can: ['receipts'], lacks: [...report.lacks] } as never },
    { ...NODE, upstream: 'gone', report: report as never },
  ]);
  await nodes.report({ process: INGESTER, role: 'ingester', host: 'one' }, [
    { ...NODE, upstream: 'a', report: report as never },
    { ...NODE, upstream: 'b', report: { ...report, head: 90, state: 'resting' } as never },
  ]);
  await nodes.report({ process: GATEWAY, role: 'gateway', host: 'two' }, [
    {
      ...{ ...NODE, upstream: 'a' },
      report: { ...report, methods: [{ method: 'eth_getLogs', calls: 1, ms: 80 }], can: ['traces'] } as never,
    },
  ]);
  const { out } = await on.done('nodes', 'list');
  expect(out).toMatch(/^main +a +ok +100 +0 +50 +4 of 16 +2 NODE_TIMEOUT +0 +-$/m);
  expect(out).toMatch(/^main +b +resting +90 +10 +40 +2 of 8 +1 NODE_TIMEOUT +0 +traces$/m);
  expect(out).not.toContain('gone');

  expect(await on.refused(64, 'nodes', 'cordon', 'main', 'c', '--why', 'x')).toMatch(
    /No process that lives asks a node "c" .* Known are: a, b\. \[NODE_UNKNOWN\]$/,
  );
  expect((await on.done('nodes', 'cordon', 'main', 'a', '--why', 'disk <b>swap</b>')).out).toMatch(
    /^Node a of main is cordoned/,
  );
  expect(await on.refused(64, 'nodes', 'cordon', 'main', 'a', '--why', 'again')).toContain(
    '[CHANGED_MEANWHILE]',
  );
  expect(await nodes.cordons()).toMatchObject([{ network: 'main', upstream: 'a', why: 'disk <b>swap</b>' }]);
  await nodes.leave(INGESTER);
  await nodes.leave(GATEWAY);
  const listed = await on.done('nodes', 'list');
  expect(listed.out).toMatch(/^main +a +cordoned +\? /m);
  expect(listed.out).toMatch(/^a of main was cordoned by .+: disk <b>swap<\/b>$/m);

  await on.done('nodes', 'uncordon', 'main', 'a');
  expect(await on.refused(64, 'nodes', 'uncordon', 'main', 'a')).toContain('[NODE_UNKNOWN]');
  expect(jsonLines(await on.done('nodes', 'list', '--json'))).toEqual([]);
  expect(
    (await changes.list({ subject: 'node main a' })).map(({ action, before, after }) => ({
      action,
      before,
      after,
    })),
  ).toMatchObject([
    { action: 'uncordon', before: { why: 'disk <b>swap</b>' }, after: null },
    { action: 'cordon', before: null, after: { why: 'disk <b>swap</b>' } },
  ]);
});
