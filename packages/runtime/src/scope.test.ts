import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { openScope, untilAborted } from './scope.js';

describe('openScope', () => {
  it('is aborted with the reason of whichever signal comes first', () => {
    const first = new AbortController();
    const second = new AbortController();
    const scope = openScope(first.signal, undefined, second.signal);
    const reason = new Error('enough');
    second.abort(reason);
    first.abort(new Error('late'));
    expect(scope.signal.reason).toBe(reason);
    expect(openScope(first.signal).signal.aborted).toBe(true);
  });

  it('leaves no listener behind once closed, but listens as long as something holds it', () => {
    const { signal } = new AbortController();
    const scope = openScope(signal);
    const release = scope.hold();
    scope.close();
    scope.close();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    release();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('untilAborted', () => {
  it('gives the value or the reason, and leaves no listener behind', async () => {
    const controller = new AbortController();
    expect(await untilAborted(Promise.resolve(7), controller.signal)).toBe(7);
    await expect(untilAborted(Promise.reject(new Error('no')), controller.signal)).rejects.toThrow('no');
    await new Promise((resolve) => setImmediate(resolve));
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    const reason = new Error('enough');
    const waiting = untilAborted(new Promise(() => undefined), controller.signal);
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(untilAborted(Promise.reject(new Error('unheard')), controller.signal)).rejects.toBe(reason);
  });
});
