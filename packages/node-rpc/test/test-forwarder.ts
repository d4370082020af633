import type { Network, Upstream } from '@packhouse/networks';
import { type Clock, systemClock } from '@packhouse/runtime';
import { expect, onTestFinished, vi } from 'vitest';
import { createForwarder } from '../src/forward/create-forwarder.js';
import type { Forwarder } from '../src/forward/forwarder.js';
import type { ForwardAnswer, ForwardRequest } from '../src/forward/send/forward-request.js';
import type { Spending } from '../src/spending/spending.js';
import type { NodeReports } from '../src/upstream/node-reports.js';
import { type Handler, type ScriptedNode, startScriptedNode } from './scripted-node.js';
import { type TestContext, testContext, testNetwork, testUpstream, useClosers } from './test-source.js';

interface ForwarderOptions {
  /** Default: registry, whose heads are not watched. */
  network?: Partial<Network>;
  /** Changes of the upstreams; they are preferred in their order unless these say otherwise. */
  upstreams?: readonly Partial<Upstream>[];
  clock?: Clock;
  spending?: Spending;
  reports?: NodeReports;
}

/** Scripted nodes and forwarders to them; all close after the test. */
export function forwarders() {
  const closers = useClosers();
  return {
    async node(handler: Handler = () => '0x1'): Promise<ScriptedNode> {
      const started = await startScriptedNode(handler);
      closers.push(() => started.close());
      return started;
    },
    forwarderTo(
      nodes: readonly ScriptedNode[],
      options: ForwarderOptions = {},
    ): { forwarder: Forwarder; context: TestContext } {
      const context = testContext(options.clock ?? systemClock);
      const upstreams = nodes.map(({ url }, at) =>
        testUpstream(url, { name: `node-${at + 1}`, priority: at + 1, ...options.upstreams?.[at] }),
      );
      const network = testNetwork(upstreams, { family: 'registry', pollIntervalMs: 100, ...options.network });
      const forwarder = createForwarder({
        network,
        context,
        spending: options.spending,
        reports: options.reports,
      });
      closers.push(() => forwarder.close());
      return { forwarder, context };
    },
  };
}

/** How many calls were sent to another node too, because the first one took long. */
export async function countHedges({ metrics }: Pick<TestContext, 'metrics'>): Promise<number> {
  const lines = (await metrics.render()).split('\n');
  const counts = lines.filter((line) => line.startsWith('packhouse_upstream_hedges_total{'));
  return counts.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** Fails if a node was asked for another reason than that the first one took long, which it may on a busy machine. */
export async function expectNotAsked(node: ScriptedNode, context: TestContext): Promise<void> {
  expect(node.requests.length).toBeLessThanOrEqual(await countHedges(context));
}

/** A clock that a test can set on. */
export function skewedClock() {
  const skew = { ms: 0 };
  return { skew, clock: { ...systemClock, elapsed: () => performance.now() + skew.ms } };
}

/** Timers of so many milliseconds take others instead, until the test ends. */
export function changeTimers(times: Readonly<Record<number, number>>): void {
  const { setTimeout: set } = globalThis;
  const spy = vi
    .spyOn(globalThis, 'setTimeout')
    .mockImplementation(((run: () => void, ms = 0) => set(run, times[ms] ?? ms)) as typeof setTimeout);
  onTestFinished(() => spy.mockRestore());
}

/** A call of `m` with ample time and size limits. */
export function call(forwarder: Forwarder, changes: Partial<ForwardRequest> = {}): Promise<ForwardAnswer> {
  return forwarder.call({
    method: 'm',
    params: '[]',
    idempotent: true,
    timeoutMs: 30_000,
    maxBytes: 100_000_000,
    signal: new AbortController().signal,
    ...changes,
  });
}

/** The check that no piece of a result has a text. */
export function without(text: string): Pick<ForwardRequest, 'check'> {
  return {
    check: () => ({
      push: (bytes) => (bytes.includes(text) ? 'an answer about something else' : null),
      end: () => null,
    }),
  };
}

/** All of a result. */
export async function getText(answer: ForwardAnswer): Promise<string> {
  if (answer.kind !== 'result') throw new Error(`${answer.kind} instead of a result`);
  const pieces = [answer.body.bytes];
  for await (const piece of answer.body.rest ?? []) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** Waits until the condition holds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await condition())) {
    expect(Date.now()).toBeLessThan(deadline);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** How often a node was asked for a method. */
export function timesAsked(node: ScriptedNode, method: string): number {
  return node.requests.filter(({ calls }) => calls[0]?.method === method).length;
}
