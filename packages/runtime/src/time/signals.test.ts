import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { CallController, openScope, untilAborted } from './signals.js';

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

describe('CallController', () => {
  it('tells each listener once, with the reason, and those that left not at all', () => {
    const call = new CallController();
    const told: string[] = [];
    const left = (): void => void told.push('left');
    call.addEventListener('abort', () => told.push(`one: ${call.reason}`));
    call.addEventListener('abort', left);
    call.addEventListener('abort', () => told.push('two'));
    call.removeEventListener('abort', left);
    expect(call.aborted).toBe(false);
    call.abort('gone');
    call.abort('again');
    expect(told).toEqual(['one: gone', 'two']);
    expect([call.aborted, call.reason]).toEqual([true, 'gone']);
  });

  it('lets listeners leave while it tells', () => {
    const call = new CallController();
    const told: string[] = [];
    const second = (): void => void told.push('second');
    call.addEventListener('abort', () => call.removeEventListener('abort', second));
    call.addEventListener('abort', second);
    call.abort(new Error('gone'));
    expect(told).toEqual(['second']);
  });
});
