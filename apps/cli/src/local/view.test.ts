import { Writable } from 'node:stream';
import type { KindStatus, NetworkStatus } from '@packhouse/report';
import { describe, expect, test } from 'vitest';
import { memoryIo } from '../testing/run.js';
import { createView, toProgress } from './view.js';

function kindStatus(more: Partial<KindStatus>): KindStatus {
  return {
    network: 'main',
    kind: 'blocks',
    requested: 100,
    staged: 0,
    published: 0,
    quarantined: 0,
    missing: [],
    bundles: 0,
    bytes: 0,
    newestAt: null,
    ...more,
  };
}

describe('the sum of a status', () => {
  const status: NetworkStatus = {
    network: 'main',
    head: 123,
    finalized: 100,
    alarms: [],
    causes: [],
    backPressure: null,
    leaderless: null,
    notProved: [],
    kinds: [
      kindStatus({ staged: 10, published: 60, bundles: 3, bytes: 300 }),
      kindStatus({ kind: 'logs', staged: 50, published: 40, quarantined: 2, bundles: 1, bytes: 50 }),
    ],
  };

  test('counts a block when all wanted kinds have it', () => {
    const rates = { blocks: 5, logs: 3 } as Record<string, number>;
    expect(
      toProgress(status, ({ kind }) => ({
        blocksPerSecond: rates[kind] ?? 0,
        bytesPerSecond: 7,
        etaSeconds: kind === 'logs' ? 12 : null,
      })),
    ).toEqual({
      network: 'main',
      head: 123,
      requested: 100,
      staged: 70,
      published: 40,
      quarantined: 2,
      bundles: 4,
      bytes: 350,
      blocksPerSecond: 3,
      bytesPerSecond: 14,
      etaSeconds: 12,
    });
  });

  test('is nothing at all where no kind is wanted', () => {
    const empty = toProgress({ ...status, kinds: [] }, () => {
      throw new Error('no kind, no rate');
    });
    expect(empty).toMatchObject({
      requested: 0,
      staged: 0,
      published: 0,
      blocksPerSecond: 0,
      etaSeconds: null,
    });
  });
});

describe('the view', () => {
  const progress: ReturnType<typeof toProgress> = {
    network: 'main',
    head: 17_000_123,
    requested: 1_000,
    staged: 500,
    published: 200,
    quarantined: 0,
    bundles: 12,
    bytes: 12_345_678,
    blocksPerSecond: 20.04,
    bytesPerSecond: 3_210_000,
    etaSeconds: 25,
  };
  const LINE =
    'head 17,000,123  fetched 500 of 1,000 blocks  published 200 in 12 bundles (12.3 MB)  20.0 blocks/s  3.2 MB/s  ETA 25 s';

  test('elsewhere than on a terminal is a line every thirty seconds, and none that says the same', () => {
    const { io, said } = memoryIo();
    let now = 1_000_000;
    const view = createView(io, () => now);
    view.progress(progress);
    now += 29_999;
    view.progress({ ...progress, staged: 600 });
    expect(said.out).toBe(`${LINE}\n`);
    now += 1;
    view.progress(progress);
    expect(said.out).toBe(`${LINE}\n`);
    view.progress({ ...progress, staged: 700 });
    expect(said.out).toBe(`${LINE}\n${LINE.replace('fetched 500', 'fetched 700')}\n`);
  });

  test('on a terminal is one line drawn over itself, cut to the width, with other lines above it', () => {
    const { io, said } = memoryIo();
    Object.assign(io.stdout, { isTTY: true, columns: 21 });
    const view = createView(io, () => 0);
    view.progress(progress);
    view.progress(progress);
    view.say('published logs');
    view.progress(progress);
    view.end();
    const drawn = LINE.slice(0, 20);
    const clear = '\r\u001b[2K';
    expect(said.out).toBe(`${drawn}${clear}${drawn}${clear}published logs\n${drawn}${clear}`);
  });

  test('is left out for a reader that takes nothing, so that it costs no memory', () => {
    const { io } = memoryIo();
    const stuck = new Writable({ highWaterMark: 1, write: () => undefined });
    const view = createView({ ...io, stdout: stuck }, Date.now);
    view.say('published logs');
    const before = stuck.writableLength;
    view.progress(progress);
    expect(stuck.writableLength).toBe(before);
  });

  test.each([
    ['says nothing of an end that is not known', { etaSeconds: null }, / MB\/s$/],
    [
      'is up to date when all that is requested is staged',
      { etaSeconds: null, staged: 1_000 },
      / up to date$/,
    ],
    ['names how many blocks are quarantined', { quarantined: 1_234 }, / {2}1,234 quarantined$/],
    ['says that the head is unknown', { head: null }, /^head unknown /],
    [
      'is not up to date before the head is known',
      { head: null, requested: 0, staged: 0, etaSeconds: null },
      / MB\/s$/,
    ],
  ])('%s', (_, more, expected) => {
    const { io, said } = memoryIo();
    createView(io, () => 1e6).progress({ ...progress, ...(more as Partial<ReturnType<typeof toProgress>>) });
    expect(said.out.trimEnd()).toMatch(expected as RegExp);
  });
});
