import { expect, test } from 'vitest';
import type { Finding } from './finding-kinds.js';
import { getStandings, type Network } from './network-state.js';

const network = (id: string, more: Partial<Network> = {}): Network =>
  ({ network: id, alarms: [], firstRequested: 0, completeThrough: 9, finalized: 9, ...more }) as Network;

test('a network is at the worst of its findings, else as far as its blocks are', () => {
  const findings = [
    { network: 'a', kind: 'no-ingester' },
    { network: 'a', kind: 'paused' },
    { network: 'b', kind: 'paused' },
  ] as Finding[];
  const alarms = [{ name: 'X', message: 'x', raisedAt: '' }];
  const networks = [
    network('a'),
    network('b'),
    network('c', { alarms }),
    network('d'),
    network('e', { completeThrough: 8 }),
    network('f', { firstRequested: null }),
  ];
  expect([...getStandings(networks, findings)].map(([id, { state, words }]) => [id, state, words])).toEqual([
    ['a', 'broken', 'No ingester'],
    ['b', 'held', 'Backfill paused'],
    ['c', 'broken', 'Alarm'],
    ['d', 'complete', 'Up to date'],
    ['e', 'behind', 'In progress'],
    ['f', 'empty', 'No backfills'],
  ]);
});
