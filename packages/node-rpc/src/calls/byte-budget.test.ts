import { describe, expect, it } from 'vitest';
import { createByteBudget } from './byte-budget.js';

const signal = new AbortController().signal;
const never = (): boolean => false;
const always = (): boolean => true;

describe('createByteBudget', () => {
  it('grants what fits, refuses the rest, and always grants what is urgent', () => {
    const budget = createByteBudget(() => 100);
    const first = budget.reserve(60, never);
    expect(first).not.toBeNull();
    expect(budget.reserve(60, never)).toBeNull();
    expect(budget.reserve(60, always)).not.toBeNull();
    expect(budget.used).toBe(120);
    first?.release();
    expect(budget.used).toBe(60);
  });

  it('makes bytes beyond the share wait until there is room', async () => {
    const budget = createByteBudget(() => 100);
    const other = budget.reserve(90, never);
    const lease = budget.reserve(10, never);
    expect(lease?.received(10, signal)).toBeUndefined();
    const waiting = lease?.received(5, signal);
    expect(waiting).toBeInstanceOf(Promise);
    other?.settle(40);
    await waiting;
    expect(budget.used).toBe(55);
    expect(lease?.received(20, signal)).toBeUndefined();
  });

  it('lets go on what has become urgent', async () => {
    const budget = createByteBudget(() => 100);
    budget.reserve(100, never);
    let urgent = false;
    const lease = budget.reserve(0, () => urgent) ?? budget.reserve(0, always);
    const waiting = lease?.received(5, signal);
    urgent = true;
    budget.wake();
    await waiting;
  });

  it('stops waiting when aborted', async () => {
    const budget = createByteBudget(() => 10);
    budget.reserve(10, never);
    const controller = new AbortController();
    const waiting = budget.reserve(0, never)?.received(5, controller.signal);
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(budget.reserve(0, always)?.received(5, controller.signal)).toBeUndefined();
  });
});
