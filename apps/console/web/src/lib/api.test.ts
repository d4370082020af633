import { afterEach, expect, test, vi } from 'vitest';
import { read } from './api.js';

afterEach(() => vi.unstubAllGlobals());

/** An answer whose body ends as `end` says after its first half. */
function answer(end: (body: ReadableStreamDefaultController<Uint8Array>) => void): void {
  vi.stubGlobal('fetch', async (_: string, { signal }: RequestInit) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"rows":'));
        signal?.addEventListener('abort', () => controller.error(signal.reason));
        end(controller);
      },
    });
    return new Response(body);
  });
}

test('an answer that is aborted halfway is none', async () => {
  const gone = new AbortController();
  answer(() => setTimeout(() => gone.abort(), 1));
  await expect(read('keys', {}, gone.signal)).rejects.toMatchObject({ name: 'AbortError' });
});

test.each([
  ['is cut off', (body: ReadableStreamDefaultController) => body.error(new TypeError('network error'))],
  ['ends too early', (body: ReadableStreamDefaultController) => body.close()],
])('an answer that %s is an error that is shown', async (_, end) => {
  answer(end);
  await expect(read('keys', {})).rejects.toMatchObject({ code: 'AWAY', data: {} });
});
