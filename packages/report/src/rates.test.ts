import { describe, expect, test } from 'vitest';
import type { KindStatus, NetworkStatus } from './network-report.js';
import { createRates } from './rates.js';

function kind(done: number, bytes: number, left = 0): KindStatus {
  return {
    network: 'main',
    kind: 'logs',
    requested: 1_000,
    staged: done,
    published: 0,
    quarantined: 0,
    missing: left === 0 ? [] : [{ firstBlock: 0, lastBlock: left - 1 }],
    bundles: 0,
    bytes,
    newestAt: null,
  };
}
const status = (...kinds: KindStatus[]): NetworkStatus => ({
  network: 'main',
  head: 0,
  finalized: 0,
  alarms: [],
  causes: [],
  backPressure: null,
  leaderless: null,
  notProved: [],
  kinds,
});

describe('rates', () => {
  test('are nothing until there are two looks', () => {
    const rates = createRates();
    const nothing = { blocksPerSecond: 0, bytesPerSecond: 0, etaSeconds: null };
    expect(rates.of(kind(0, 0, 10))).toEqual(nothing);
    rates.add(status(kind(5, 100, 10)), 1_000);
    expect(rates.of(kind(5, 100, 10))).toEqual(nothing);
  });

  test('are what was done between the looks of the window, and say when nothing will be missing', () => {
    const rates = createRates(10_000);
    rates.add(status(kind(0, 0, 300)), 0);
    rates.add(status(kind(100, 4_000, 200)), 10_000);
    expect(rates.of(kind(100, 4_000, 200))).toEqual({
      blocksPerSecond: 10,
      bytesPerSecond: 400,
      etaSeconds: 20,
    });
    // The first look has left the window.
    rates.add(status(kind(140, 4_000, 160)), 20_000);
    expect(rates.of(kind(140, 4_000, 160))).toEqual({
      blocksPerSecond: 4,
      bytesPerSecond: 0,
      etaSeconds: 40,
    });
  });

  test('have no end in sight where nothing moves, and none where nothing is missing', () => {
    const rates = createRates();
    rates.add(status(kind(7, 0, 3)), 0);
    rates.add(status(kind(7, 0, 3)), 5_000);
    expect(rates.of(kind(7, 0, 3)).etaSeconds).toBeNull();
    rates.add(status(kind(10, 0)), 6_000);
    expect(rates.of(kind(10, 0)).etaSeconds).toBeNull();
  });

  test('never fall below zero when a reorganisation takes blocks away', () => {
    const rates = createRates();
    rates.add(status(kind(10, 0)), 0);
    rates.add(status(kind(4, 0, 6)), 1_000);
    expect(rates.of(kind(4, 0, 6)).blocksPerSecond).toBe(0);
  });
});
