import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '@packhouse/runtime';
import { afterEach, expect, test } from 'vitest';
import {
  type CutInstallation,
  canCut,
  DURING,
  FIRST,
  reportRow,
  startCutInstallation,
  timeUntil,
  withRedis,
} from './cut-installation.js';
import type { Cut } from './cut-network.js';

// A gateway that loses Postgres or Redis answers what it can, and refuses the rest with 503: nobody hangs.
const ANSWERS_WITHIN_MS = 10_000;
const HEALS_WITHIN_MS = 60_000;
const CUT_MS = 45_000;
/** Between two requests of a client. */
const PAUSE_MS = 200;
/** No client waits longer than this. */
const GIVE_UP_MS = 60_000;

let at: CutInstallation;
afterEach(() => at.scope.close());

interface Answer {
  /** 0: none. */
  status: number;
  at: number;
  tookMs: number;
}

async function ask(url: string, body?: unknown): Promise<Answer> {
  const began = systemClock.elapsed();
  const request =
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const status = await fetch(url, { ...request, signal: AbortSignal.timeout(GIVE_UP_MS) }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.status;
    },
    () => 0,
  );
  return { status, at: began, tookMs: systemClock.elapsed() - began };
}

async function cutGateway(from: 'postgres' | 'redis', what: Cut): Promise<void> {
  at = await startCutInstallation('redis');
  await at.start('ingester');
  await at.start('packer');
  const gateway = await at.start('gateway', 'far', { HOST: '0.0.0.0' });
  const url = `http://${at.far.far}:${(await gateway.message('listening')).port}`;
  await at.follow();
  await timeUntil(async () => (await at.published()) > 0);
  const keys = await Promise.all(
    ['known', 'new'].map((application) =>
      at.database.keys.create({ application, plan: 'unlimited', network: null, expiresAt: null }),
    ),
  );
  const [known, unknown] = keys.map(({ key }) => `${url}/main/v1/${key}`) as [string, string];
  const call = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params });
  const filter = call('eth_newFilter', {});
  let next = FIRST;
  const clients: Record<string, () => Promise<Answer>> = {
    healthz: () => ask(`${url}/healthz`),
    readyz: () => ask(`${url}/readyz`),
    'call to a node': () => ask(known, call('eth_getBalance', `0x${'0'.repeat(40)}`, 'latest')),
    'final block': () => ask(known, call('eth_getBlockByNumber', `0x${FIRST.toString(16)}`, false)),
    'new filter': () => ask(known, filter),
    pointer: () => ask(`${known}/bundle-api/logs/${FIRST}`),
    'other pointer': () => ask(`${known}/bundle-api/blocks/${FIRST + (next++ % 8)}`),
    'key never seen': () => ask(unknown, call('eth_chainId')),
  };
  // The other key is not known to the gateway before the cut.
  const warm = Object.entries(clients).filter(([name]) => name !== 'key never seen');
  await timeUntil(async () => {
    const before = await Promise.all(warm.map(([, client]) => client()));
    return before.every(({ status }) => status === 200);
  });
  let done = false;
  const answers = new Map<string, Answer[]>(Object.keys(clients).map((name) => [name, []]));
  at.far.cut(what, at.ports[from]);
  const running = Object.entries(clients).map(async ([name, client]) => {
    while (!done) {
      answers.get(name)?.push(await client());
      await delay(PAUSE_MS);
    }
  });
  at.node.setHead(DURING);
  await delay(CUT_MS);
  at.far.heal();
  const healedAt = systemClock.elapsed();
  const healed = await timeUntil(async () =>
    [...answers].every(([, those]) =>
      those.slice(-3).every(({ status, at: when }) => when > healedAt && status === 200),
    ),
  );
  done = true;
  await Promise.all(running);
  reportRow(`gateway from ${from}, ${what}`, { 'after heal': healed });
  for (const [name, those] of answers) {
    const during = those.filter((answer) => answer.at < healedAt);
    const statuses = [...new Set(during.map(({ status }) => status))].sort();
    const list = statuses.map((each) => `${during.filter(({ status }) => status === each).length} × ${each}`);
    reportRow(`… ${name}`, {
      answers: list.join(', '),
      longest: Math.max(...during.map(({ tookMs }) => tookMs)),
    });
  }
  for (const [name, those] of answers) {
    const wrong = those.filter(({ status }) => status !== 200 && status !== 503);
    expect(wrong, name).toEqual([]);
    expect(Math.max(...those.map(({ tookMs }) => tookMs)), name).toBeLessThan(ANSWERS_WITHIN_MS);
  }
  expect(answers.get('healthz')?.every(({ status }) => status === 200)).toBe(true);
  expect(healed).toBeLessThan(HEALS_WITHIN_MS);
  expect(gateway.child.exitCode).toBeNull();
  await at.finish();
  await at.check();
}

const ways = ['both', 'sent', 'received'] as const;
test
  .skipIf(!canCut || !withRedis)
  .each((['postgres', 'redis'] as const).flatMap((from) => ways.map((what) => [from, what] as const)))(
  `a gateway without %s (%s) answers what it can, the rest with 503 in bounded time (needs redis-server and network namespaces)`,
  cutGateway,
);
