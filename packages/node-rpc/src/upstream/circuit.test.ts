import { describe, expect, it } from 'vitest';
import { jumpingClock } from '../../test/test-source.js';
import { createCircuit } from './circuit.js';

function failing(times: number) {
  const clock = jumpingClock();
  const changes: boolean[] = [];
  const circuit = createCircuit({ clock, onChange: (open) => changes.push(open) });
  for (let index = 0; index < times; index += 1) circuit.failed();
  return { changes, circuit, clock };
}

describe('createCircuit', () => {
  it('opens after five failures in a row, and not before', () => {
    const { changes, circuit } = failing(4);
    circuit.succeeded();
    for (let index = 0; index < 4; index += 1) circuit.failed();
    expect(circuit.state).toBe('closed');
    circuit.failed();
    expect(circuit.state).toBe('open');
    expect(circuit.waitMs()).toBeGreaterThan(0);
    expect(changes).toEqual([true]);
  });

  it('says since its first failure for how long it has only failed, until it closes', () => {
    const { circuit, clock } = failing(4);
    expect(circuit.failingForMs()).toBeNull();
    clock.jump(700);
    circuit.failed();
    clock.jump(60_000);
    expect(circuit.failingForMs()).toBeGreaterThanOrEqual(60_700);
    circuit.failed();
    expect(circuit.failingForMs()).toBeGreaterThanOrEqual(60_700);
    circuit.succeeded();
    expect(circuit.failingForMs()).toBeNull();
  });

  it('lets one probe through after its rest, and closes when that succeeds', async () => {
    const { changes, circuit, clock } = failing(5);
    clock.jump(1_000);
    expect(circuit.waitMs()).toBe(0);
    circuit.enter();
    expect(circuit.state).toBe('half-open');
    expect(circuit.waitMs()).toBe(Number.POSITIVE_INFINITY);
    const settled = circuit.settled();
    circuit.succeeded();
    await settled;
    expect(circuit.waitMs()).toBe(0);
    expect(changes).toEqual([true, false]);
  });

  it('rests twice as long after a probe that failed, up to half a minute', () => {
    const { circuit, clock } = failing(5);
    const rests: number[] = [];
    for (let index = 0; index < 8; index += 1) {
      clock.jump(circuit.waitMs() + 1);
      circuit.enter();
      circuit.failed();
      rests.push(Math.round(circuit.waitMs() / 1_000));
    }
    expect(rests).toEqual([2, 4, 8, 16, 30, 30, 30, 30]);
  });

  it('rests no longer because the clock is set back an hour', () => {
    const { circuit, clock } = failing(5);
    clock.setBack(3_600_000);
    expect(circuit.waitMs()).toBeLessThanOrEqual(1_000);
    clock.jump(1_000);
    expect(circuit.state).toBe('half-open');
  });

  it('gives the place of a probe that told nothing to the next', () => {
    const { circuit, clock } = failing(5);
    clock.jump(1_000);
    circuit.enter().leave();
    expect(circuit.waitMs()).toBe(0);
  });
});
