import { expect, test } from 'vitest';
import { createTriggers } from './triggers.js';

const kill = { kind: 'kill', when: 'before' } as const;

test('a trigger waits for the n-th message of its process at its port, and fires once', () => {
  const triggers = createTriggers();
  triggers.arm({ port: 'postgres', process: 'packer-1', nth: 2, effect: kill });
  expect(triggers.hit('postgres', 'packer-1')).toEqual([]);
  expect(triggers.hit('postgres', 'packer-2')).toEqual([]);
  expect(triggers.hit('node', 'packer-1')).toEqual([]);
  expect(triggers.hit('postgres', 'packer-1')).toEqual([kill]);
  expect(triggers.hit('postgres', 'packer-1')).toEqual([]);
  expect(triggers.disarm()).toBe(0);
});

test('one that names a method and no process counts everybody who uses it', () => {
  const triggers = createTriggers();
  const effect = { kind: 'store', fault: 'slowDown' } as const;
  triggers.arm({ port: 'store', process: null, method: 'PUT', nth: 2, effect });
  expect(triggers.hit('store', 'packer-1', 'GET')).toEqual([]);
  expect(triggers.hit('store', 'packer-1', 'PUT')).toEqual([]);
  expect(triggers.hit('store', 'packer-2', 'PUT')).toEqual([effect]);
});

test('those that wait are forgotten when they are disarmed', () => {
  const triggers = createTriggers();
  triggers.arm({ port: 'node', process: null, nth: 1, effect: kill });
  expect(triggers.disarm()).toBe(1);
  expect(triggers.hit('node', 'ingester-1')).toEqual([]);
});
