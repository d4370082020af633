import { expect, test } from 'vitest';
import { jsonLines } from '../testing/run.js';
import { useCommands } from '../testing/use-commands.js';

const on = useCommands();
const beat = (id: string, jobs: { job: string; seconds: number }[] = [], digest = 'ab12') =>
  on.database.workers.heartbeat({
    id,
    role: 'ingester' as const,
    host: 'one',
    pid: 7,
    networks: ['main'],
    slots: 4,
    jobs,
    networksDigest: digest,
    networksProblem: digest === 'ab12' ? null : 'Line 3 is wrong.',
  });
const FIRST = '11111111-0000-4000-8000-000000000000';
const SECOND = '11111112-0000-4000-8000-000000000000';

test('workers are listed with what they do, drained by the first letters of an id, and resumed', async () => {
  expect((await on.done('workers')).out).toBe('No ingester or packer reported in the last 15 s.\n');
  await beat(
    FIRST,
    ['a', 'b', 'c'].map((job) => ({ job, seconds: 3 })),
  );
  await beat(SECOND);
  const { out } = await on.done('workers', 'list');
  expect(out).not.toContain('networks file');
  expect(out).toMatch(/^11111111 +ingester +one:7 .* ab12 +3 of 4 +a 3 s, b 3 s, and 1 more$/m);
  expect(out).toMatch(/^11111112 .* 0 of 4 +idle$/m);

  expect(await on.refused(64, 'workers', 'drain', '111')).toMatch(
    /2 workers .* Use one of 11111111, 11111112\. \[WORKER_UNKNOWN\]$/,
  );
  expect(await on.refused(64, 'workers', 'drain', 'abc')).toMatch(/Unknown worker .*\[WORKER_UNKNOWN\]$/);
  expect((await on.done('workers', 'drain', '11111112')).out).toMatch(
    /^ingester 11111112 \(process 7 on one\) draining: it finishes its jobs/,
  );
  expect(await beat(SECOND)).toEqual({ draining: true });
  expect(await beat(FIRST)).toEqual({ draining: false });
  expect(jsonLines(await on.done('workers', 'list', '--json')).map(({ draining }) => draining)).toEqual([
    false,
    true,
  ]);
  await on.done('workers', 'resume', '11111112');
  expect(await beat(SECOND)).toEqual({ draining: false });
});

test('workers list says who has another networks file in force, and why', async () => {
  await beat(FIRST);
  await beat(SECOND, [], 'cd34');
  const { out } = await on.done('workers', 'list');
  expect(out).toMatch(/^11111112 .* cd34 /m);
  expect(out).toContain('ingester 11111112 cannot load its networks file: Line 3 is wrong.');
  expect(out).toContain('Workers use different networks files: compare NETWORKS FILE.');
});
