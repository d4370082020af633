import { expect, it } from 'vitest';
import { CallController } from './call-signal.js';

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
