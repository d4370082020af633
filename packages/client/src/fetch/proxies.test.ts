import type { PackhouseError } from '@packhouse/runtime';
import { afterEach, expect, it, vi } from 'vitest';
import { API_KEY, answer, type BadGateway, impatientHttp, startBadGateway } from '../testing/bad-gateway.js';

let proxy: BadGateway;
afterEach(async () => {
  vi.unstubAllEnvs();
  await proxy.close();
});

/** Asks for a document under this environment; returns its text, or the error. */
async function ask(url: string, env: Record<string, string>): Promise<string | PackhouseError> {
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']) {
    vi.stubEnv(name, env[name]);
    vi.stubEnv(name.toLowerCase(), undefined);
  }
  const { http } = impatientHttp();
  try {
    return await http.text(url, 1_000, { bearer: true }).catch((error: unknown) => error as PackhouseError);
  } finally {
    await http.close();
  }
}

const tunnel = { send: 'HTTP/1.1 200 Connection established\r\n\r\n' };
const gateway = 'http://gateway.invalid/ethereum/files';

it('HTTP_PROXY carries what goes to an address without TLS', async () => {
  proxy = await startBadGateway(tunnel, answer('200 OK', 'good'));
  expect(await ask(gateway, { HTTP_PROXY: proxy.url })).toBe('good');
  expect(proxy.heads[0]).toMatch(/^CONNECT gateway\.invalid:80 HTTP\/1\.1/);
  expect(proxy.heads[0]).not.toContain(API_KEY);
});

it('HTTPS_PROXY is asked for a tunnel, and never sees the key', async () => {
  proxy = await startBadGateway(answer('502 Bad Gateway'));
  const error = await ask('https://gateway.invalid/x', { HTTPS_PROXY: proxy.url });
  expect(error).toMatchObject({ code: 'DOWNLOAD_FAILED' });
  expect(proxy.heads.length).toBeGreaterThan(0);
  for (const head of proxy.heads) {
    expect(head).toMatch(/^CONNECT gateway\.invalid:443 HTTP\/1\.1/);
    expect(head).not.toContain(API_KEY);
  }
});

it('user and password of a proxy go to the proxy, and into no message', async () => {
  proxy = await startBadGateway(answer('407 Proxy Authentication Required'));
  const address = proxy.url.replace('//', '//user:proxy-secret@');
  const error = await ask('https://gateway.invalid/x', { HTTPS_PROXY: address });
  expect(proxy.heads[0]).toContain(
    `proxy-authorization: Basic ${Buffer.from('user:proxy-secret').toString('base64')}`,
  );
  expect(error).toMatchObject({ code: 'DOWNLOAD_FAILED', message: expect.stringContaining('407') });
  expect(`${(error as Error).stack} ${(error as Error).message}`).not.toContain('proxy-secret');
});

it('NO_PROXY names what is asked without one', async () => {
  proxy = await startBadGateway(answer('200 OK', 'straight'));
  const env = { HTTP_PROXY: 'http://127.0.0.1:1', NO_PROXY: '127.0.0.1' };
  expect(await ask(`${proxy.url}/x`, env)).toBe('straight');
  expect(proxy.heads).toHaveLength(1);
});

it('a proxy that is not there is a failure that says so', async () => {
  proxy = await startBadGateway(answer('200 OK', 'straight'));
  const { port } = new URL(proxy.url);
  await proxy.close();
  expect(await ask(gateway, { HTTP_PROXY: proxy.url })).toMatchObject({
    code: 'DOWNLOAD_FAILED',
    message: expect.stringContaining(`127.0.0.1:${port}`),
  });
});

it.each(['127.0.0.1:3128', 'proxy'])(
  'a proxy that has no scheme (%s) is refused in a sentence',
  async (address) => {
    proxy = await startBadGateway(answer('200 OK', 'straight'));
    await expect(ask(gateway, { HTTP_PROXY: address })).rejects.toMatchObject({
      code: 'USAGE',
      message: 'HTTPS_PROXY or HTTP_PROXY is not the address of a proxy.',
    });
  },
);
