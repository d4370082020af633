import { expect, test } from 'vitest';
import { jsonLines } from '../testing/run.js';
import { useCommands } from '../testing/use-commands.js';

const on = useCommands();
const report = {
  state: 'ok',
  client: null,
  head: 100,
  inFlight: 2,
  maxInFlight: 8,
  invalidResponses: 0,
  leftOut: null,
  throttledBy: null,
  methods: [{ method: 'eth_getLogs', calls: 3, ms: 40 }],
  errors: [{ meaning: 'NODE_TIMEOUT', calls: 1 }],
  lastError: 'it hung',
  failingForMs: null,
  capabilities: ['the finalized tag'],
  missingCapabilities: ['traces'],
} as const;
const [INGESTER, GATEWAY] = ['1', '2'].map((n) => `${n.repeat(8)}-0000-4000-8000-000000000000`) as [
  string,
  string,
];
const NODE = { network: 'main', provider: 'cheap' };

test('nodes are listed, merged over processes, and cordoned with a reason that the log keeps', async () => {
  const { changes, nodes } = on.database;
  expect((await on.done('nodes', 'list')).out).toMatch(/^No ingester or gateway reported a node /);
  await nodes.report({ process: INGESTER, role: 'ingester', host: 'one' }, [
    {
      ...NODE,
      upstream: 'a',
      report: {
        ...report,
        capabilities: ['receipts'],
        missingCapabilities: [...report.missingCapabilities],
      } as never,
    },
    { ...NODE, upstream: 'gone', report: report as never },
  ]);
  await nodes.report({ process: INGESTER, role: 'ingester', host: 'one' }, [
    { ...NODE, upstream: 'a', report: report as never },
    {
      ...NODE,
      upstream: 'b',
      report: { ...report, head: 90, state: 'resting', leftOut: 'its block' } as never,
    },
  ]);
  await nodes.report({ process: GATEWAY, role: 'gateway', host: 'two' }, [
    {
      ...NODE,
      upstream: 'a',
      report: {
        ...report,
        methods: [{ method: 'eth_getLogs', calls: 1, ms: 80 }],
        capabilities: ['traces'],
      } as never,
    },
  ]);
  const { out } = await on.done('nodes', 'list');
  expect(out).toMatch(/^main +a +ok +100 +0 +50 +4 of 16 +2 NODE_TIMEOUT +0 +-$/m);
  expect(out).toMatch(/^main +b +resting +90 +10 +40 +2 of 8 +1 NODE_TIMEOUT +0 +traces$/m);
  expect(out).toMatch(/^b of main: left out: its block$/m);
  expect(out).not.toContain('gone');

  expect(await on.refused(64, 'nodes', 'cordon', 'main', 'c', '--reason', 'x')).toMatch(
    /Unknown node "c" .* Known nodes: a, b\. \[NODE_UNKNOWN\]$/,
  );
  expect((await on.done('nodes', 'cordon', 'main', 'a', '--reason', 'disk <b>swap</b>')).out).toMatch(
    /^Node a of main cordoned/,
  );
  expect(await on.refused(64, 'nodes', 'cordon', 'main', 'a', '--reason', 'again')).toContain(
    '[CHANGED_MEANWHILE]',
  );
  expect(await nodes.cordons()).toMatchObject([
    { network: 'main', upstream: 'a', reason: 'disk <b>swap</b>' },
  ]);
  await nodes.leave(INGESTER);
  await nodes.leave(GATEWAY);
  const listed = await on.done('nodes', 'list');
  expect(listed.out).toMatch(/^main +a +cordoned +\? /m);
  expect(listed.out).toMatch(/^a of main: cordoned by .+: disk <b>swap<\/b>$/m);

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
    { action: 'uncordon', before: { reason: 'disk <b>swap</b>' }, after: null },
    { action: 'cordon', before: null, after: { reason: 'disk <b>swap</b>' } },
  ]);
});
