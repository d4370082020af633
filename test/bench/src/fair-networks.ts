import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Scope } from '@packhouse/local';
import { median, startReplay, startService, withScope } from '@packhouse/rig';
import pg from 'pg';
import type { BenchOptions } from './options.js';
import { openPlace } from './place.js';
import type { BenchOutcome } from './result.js';

const BLOCKS = 6_000;
const LATENCY_MS = 100;
const ROUNDS = 7;
const MAX_PERCENT = 5;
const POLL_MS = 50;
const KINDS = ['blocks', 'transactions', 'receipts', 'logs'] as const;
/** A port of the loopback interface on which nobody listens (RFC 6335: assigned, and not used). */
const DEAD = 'http://127.0.0.1:9';

const SPENT = {
  provider: 'spent',
  unit: 'requests',
  perSecond: null,
  perDay: 1,
  perMonth: null,
  weights: {},
  reserve: 0,
  pricePerMillion: null,
  currency: null,
} as const;

/**
 * What networks that bring nothing cost one that works: the time to stage its blocks beside one whose node never answers,
 * one whose node is gone, and one whose budget is used up.
 */
export async function benchFairNetworks({ say }: BenchOptions): Promise<BenchOutcome[]> {
  const [alone, beside]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(await timeStaging(false));
    beside.push(await timeStaging(true));
    say(`  alone ${alone.at(-1)?.toFixed(2)} s, beside three others ${beside.at(-1)?.toFixed(2)} s`);
  }
  const percent = (median(beside) / median(alone) - 1) * 100;
  return [
    {
      name: 'a network beside a hanging, a dead and an over-budget one: slower by',
      value: percent,
      unit: '%',
      target: `less than ${MAX_PERCENT} %`,
      met: percent < MAX_PERCENT,
      note: `${BLOCKS} blocks of a node ${LATENCY_MS} ms away, from the first staged one to the last; medians of ${ROUNDS} rounds in turns`,
      data: { alone, beside },
    },
  ];
}

/** Seconds until the blocks of the network that works are staged. */
function timeStaging(withOthers: boolean): Promise<number> {
  return withScope(async (scope) => {
    const place = await openPlace(scope);
    const works = await startReplay(
      scope,
      [String(BLOCKS), String(LATENCY_MS)],
      'test/bench/dist/tiny-node.js',
    );
    const others = withOthers
      ? [
          { id: 'hanging', upstreams: [{ url: await startHanging(scope) }] },
          { id: 'dead', upstreams: [{ url: DEAD }] },
          { id: 'spent', upstreams: [{ url: works.url, provider: SPENT.provider }] },
        ]
      : [];
    const networks = [{ id: 'works', upstreams: [{ url: works.url }] }, ...others];
    for (const { id } of networks) {
      await place.database.networks.register({ id, chainId: 1 });
      await place.database.network(id).backfills.add({ kinds: KINDS, from: 1, to: BLOCKS, priority: 1 });
    }
    await place.database.budgets.change('spent', () => SPENT, 'bench');
    const file = path.join(place.directory, 'networks.json');
    const all = networks.map((network) => ({ family: 'evm', chainId: 1, ...network }));
    await writeFile(file, JSON.stringify({ networks: all }));
    startService('ingester', { DATABASE_URL: place.url, NETWORKS_FILE: file, LOG_LEVEL: 'fatal' }, { scope });
    return await untilStaged(place.url);
  });
}

/** The address of a server that takes requests and never answers. */
async function startHanging(scope: Scope): Promise<string> {
  const open = new Set<Socket>();
  const server = createServer((socket) => void open.add(socket.resume().on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  scope.defer(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns the seconds from the first staged block of the network that works to its last. */
async function untilStaged(url: string): Promise<number> {
  const pool = new pg.Pool({ connectionString: url });
  let startedAt: number | undefined;
  for (;;) {
    const { rows } = await pool.query<{ blocks: number }>(
      `SELECT count(*)::int AS blocks FROM packhouse.staged_block
       WHERE network_id = (SELECT id FROM packhouse.network WHERE name = 'works')`,
    );
    const blocks = rows[0]?.blocks ?? 0;
    if (blocks > 0) startedAt ??= performance.now();
    if (blocks === BLOCKS) break;
    await sleep(POLL_MS);
  }
  const seconds = (performance.now() - (startedAt ?? 0)) / 1_000;
  await pool.end();
  return seconds;
}
