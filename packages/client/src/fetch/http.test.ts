import { PackhouseError } from '@packhouse/runtime';
import { afterEach, describe, expect, it } from 'vitest';
import {
  API_KEY,
  answer,
  type BadGateway,
  impatientHttp,
  type Script,
  startBadGateway,
} from '../testing/bad-gateway.js';
import { createHttp } from './http.js';

let gateway: BadGateway;
afterEach(() => gateway.close());

/** Asks once for a document; returns its text or the error, with the waits before. */
async function ask(scripts: Script[], { maxBytes = 100 } = {}) {
  gateway = await startBadGateway(...scripts);
  const { http, waits } = impatientHttp();
  try {
    const url = `${gateway.url}/ethereum/v1/${API_KEY}/bundle-api/files`;
    const outcome = await http.text(url, maxBytes).then(
      (text) => ({ text, error: null }),
      (error: unknown) => ({ text: null, error: error as PackhouseError }),
    );
    expect(JSON.stringify({ ...outcome.error, message: outcome.error?.message, waits })).not.toContain(
      API_KEY,
    );
    return { ...outcome, waits, sent: gateway.heads.length };
  } finally {
    await http.close();
  }
}

const good = answer('200 OK', 'good');

describe('an answer that is broken is asked for again', () => {
  it.each<[string, Script]>([
    ['reset before its head', { send: '', after: 'reset' }],
    ['closed before its head', { send: '', after: 'end' }],
    ['reset in its head', { send: 'HTTP/1.1 200 OK\r\ncontent-le', after: 'reset' }],
    ['reset in its body', { send: 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\ngoo', after: 'reset' }],
    ['shorter than told', { send: 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\ngood', after: 'end' }],
    [
      'cut off between chunks',
      { send: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\ngood\r\n', after: 'end' },
    ],
    [
      'of a chunk that has no length',
      { send: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n', after: 'end' },
    ],
    ['no HTTP', { send: 'SSH-2.0-OpenSSH_9.6\r\n', after: 'end' }],
    [
      'of two lengths',
      { send: 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\ngood', after: 'end' },
    ],
    ['502', answer('502 Bad Gateway', '<html>')],
    ['503', answer('503 Service Unavailable', '', 'retry-after: 2')],
    ['408', answer('408 Request Timeout')],
  ])('%s', async (_, script) => {
    const { text, waits } = await ask([script, script, good]);
    expect(text).toBe('good');
    expect(waits.map(({ rateLimited }) => rateLimited)).toEqual([false, false]);
  });

  it('six times, and then it fails', async () => {
    const { error, sent } = await ask([answer('503 Service Unavailable', '', 'retry-after: 999999')]);
    expect(error).toMatchObject({ code: 'DOWNLOAD_FAILED', data: { status: 503 } });
    expect(sent).toBe(6);
  });

  it('after pauses that grow, and are a minute at most whatever is asked', async () => {
    const busy = answer('503 Service Unavailable');
    const { waits } = await ask([busy, busy, busy, answer('500 Oops', '', 'retry-after: 999999'), good]);
    expect(waits.map(({ seconds }) => seconds)).toEqual([0.5, 1, 2, 60]);
  });
});

it('bytes behind the length that was told are no part of the answer, nor of the next one', async () => {
  const longer = { send: `${good.send}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil` };
  gateway = await startBadGateway(longer, good);
  const { http } = impatientHttp();
  try {
    for (let times = 0; times < 3; times += 1) expect(await http.text(gateway.url, 100)).toBe('good');
  } finally {
    await http.close();
  }
});

describe('429', () => {
  it.each([
    ['7', 7],
    ['', 5],
    ['soon', 5],
    ['-3', 5],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 5],
    ['0', 1],
    // The rest of a month: a timer of more than 24.8 days would end at once.
    ['2592000', 3_600],
    ['99999999999999999999', 5],
  ])('with Retry-After "%s" is waited for %d s', async (retryAfter, seconds) => {
    const { text, waits } = await ask([
      answer('429 Too Many Requests', '', `retry-after: ${retryAfter}`),
      good,
    ]);
    expect(text).toBe('good');
    expect(waits).toMatchObject([{ rateLimited: true, seconds }]);
  });

  it('is no failure, however often it comes between failures', async () => {
    const slow = answer('429 Too Many Requests');
    const bad = answer('500 Oops');
    const { text, waits } = await ask([...Array<Script>(20).fill(slow), bad, slow, bad, slow, good]);
    expect(text).toBe('good');
    expect(waits).toHaveLength(24);
  });

  it('ends its wait at an abort', async () => {
    gateway = await startBadGateway(answer('429 Too Many Requests', '', 'retry-after: 3600'));
    const controller = new AbortController();
    const http = createHttp({ apiKey: API_KEY, onWait: () => controller.abort(new Error('enough')) });
    try {
      await expect(http.text(gateway.url, 9, { signal: controller.signal })).rejects.toThrow('enough');
    } finally {
      await http.close();
    }
  });
});

describe('what asking again does not change fails at once', () => {
  const problem = (reason: string, detail: string) => JSON.stringify({ reason, detail, maxBlock: 7 });
  it.each<[string, Script, string, string]>([
    [
      '401',
      answer('401 Unauthorized', problem('unauthenticated', 'The key is not valid.')),
      'API_KEY_REFUSED',
      'The key is not valid.',
    ],
    [
      '401 of something else',
      answer('401 Unauthorized', '<html>Log in'),
      'API_KEY_REFUSED',
      'the status 401',
    ],
    [
      '403',
      answer('403 Forbidden', problem('forbidden', 'It was revoked.')),
      'API_KEY_REFUSED',
      'It was revoked.',
    ],
    [
      'the end of the plan',
      answer('403 Forbidden', problem('plan-limit', 'Up to block 7.')),
      'PLAN_LIMIT',
      'Up to block 7.',
    ],
    [
      '404',
      answer('404 Not Found', problem('path-unknown', 'There is nothing.')),
      'DOWNLOAD_FAILED',
      'There is nothing.',
    ],
    [
      'a redirection',
      answer('302 Found', '', 'location: http://127.0.0.1:1/'),
      'DOWNLOAD_FAILED',
      'the status 302',
    ],
    ['no content', { send: 'HTTP/1.1 204 No Content\r\n\r\n' }, 'DOWNLOAD_FAILED', 'the status 204'],
    [
      'an answer that is too large',
      answer('200 OK', 'x'.repeat(101)),
      'DOWNLOAD_FAILED',
      'more than 100 bytes',
    ],
    [
      'a reason with the key in it',
      answer('403 Forbidden', problem('forbidden', `${API_KEY} is revoked.`)),
      'API_KEY_REFUSED',
      'is revoked.',
    ],
    [
      'a reason without end',
      answer('404 Not Found', `{"detail":"${'x'.repeat(200_000)}"}`),
      'DOWNLOAD_FAILED',
      'the status 404',
    ],
    [
      'a reason with commands for a terminal',
      answer('404 Not Found', '{"detail":"\\u001b[2J\\u009bnothing\\r\\nhere"}'),
      'DOWNLOAD_FAILED',
      'an error:  [2J nothing here',
    ],
    [
      'a reason that is no text',
      answer('404 Not Found', '{"detail":{"toString":1}}'),
      'DOWNLOAD_FAILED',
      'the status 404',
    ],
  ])('%s', async (_, script, code, words) => {
    const { error, sent, waits } = await ask([script, good]);
    expect(error).toMatchObject({ code, message: expect.stringContaining(words) });
    expect({ sent, waits }).toEqual({ sent: 1, waits: [] });
  });
});

describe('a download that leads to the object store', () => {
  /** Downloads from a gateway that answers as told and leads to a store of these answers. */
  const download = async (lead: (store: string) => Script[], ...stored: Script[]) => {
    const store = await startBadGateway(...stored);
    gateway = await startBadGateway(...lead(store.url));
    const { http, waits } = impatientHttp();
    try {
      const outcome = await http
        .text(`${gateway.url}/ethereum/files/logs/0-9.json.gz`, 100, { bearer: true })
        .catch((error: unknown) => error as PackhouseError);
      return { outcome, waits, asked: gateway.heads, stored: store.heads };
    } finally {
      await http.close();
      await store.close();
    }
  };
  const lead = (store: string): Script =>
    answer('302 Found', '', `location: ${store}/bucket/a?X-Amz-Signature=0af1`);

  it('is made there without the key', async () => {
    const { outcome, asked, stored } = await download((store) => [lead(store)], good);
    expect(outcome).toBe('good');
    expect(asked).toEqual([expect.stringContaining(`authorization: Bearer ${API_KEY}`)]);
    expect(stored).toEqual([expect.stringContaining('GET /bucket/a?X-Amz-Signature=0af1 ')]);
    expect(stored[0]).not.toMatch(/authorization|ph_/i);
  });

  it('asks the gateway for another address where the first is too old, and for as long as any is', async () => {
    const old = answer('403 Forbidden', '<Error>');
    const { outcome, asked, stored } = await download((store) => [lead(store)], old, good);
    expect(outcome).toBe('good');
    expect([asked.length, stored.length]).toEqual([2, 2]);
    const never = await download((store) => [lead(store)], old);
    expect(never.outcome).toMatchObject({ code: 'DOWNLOAD_FAILED', data: { status: 403 } });
    expect(String((never.outcome as Error).message)).toContain('the object store');
    expect(String((never.outcome as Error).message)).not.toContain('0af1');
    expect(never.asked).toHaveLength(6);
  });

  it('goes to nothing but http and https, and not round and round', async () => {
    for (const location of ['ftp://host/a', 'file:///etc/passwd', '', 'http://user:word@host/']) {
      const { outcome, asked } = await download(
        () => [answer('302 Found', '', `location: ${location}`)],
        good,
      );
      expect(outcome).toMatchObject({ code: 'DOWNLOAD_FAILED', retryable: false });
      expect(asked).toHaveLength(1);
    }
    const { outcome } = await download((store) => [lead(store)], answer('302 Found', '', 'location: /again'));
    expect(outcome).toMatchObject({ code: 'DOWNLOAD_FAILED', data: { status: 302 } });
  });
});

it('a disk that gets full while an answer is written is no reason to ask again', async () => {
  gateway = await startBadGateway(good, good);
  const { http, waits } = impatientHttp();
  const full = new PackhouseError({ code: 'DISK_FULL', message: 'No space is left for a file.' });
  const write = () => Promise.reject(full);
  await expect(http.get(`${gateway.url}/ethereum/files/logs/0-9.json.gz`, write)).rejects.toBe(full);
  expect([waits.length, gateway.heads.length]).toEqual([0, 1]);
  await http.close();
});
