import { once } from 'node:events';
import { request } from 'node:http';
import { brotliDecompressSync, createGunzip, gunzipSync, gzipSync } from 'node:zlib';
import { createSigner, makeSigningKey, readSigningKey } from '@packhouse/manifest';
import { parseNetworks } from '@packhouse/networks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Answer, ask } from '../testing/ask.js';
import { type ScriptedAnswer, type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

const WAIT = { timeout: 60_000 };
const JSON_TYPE = { 'content-type': 'application/json' };

let node: ScriptedNode;
let at: TestGateway;
let key: string;
let file: Buffer;
let says: (hash: string) => ScriptedAnswer | Promise<ScriptedAnswer>;

beforeAll(async () => {
  node = await startScriptedNode();
  node.answer(({ method, params }) =>
    method === 'eth_getTransactionByHash' ? says(String(params[0])) : { result: null },
  );
  const networks = parseNetworks(
    `networks:\n  - {id: ethereum, family: evm, chainId: 1, upstreams: [{url: '${node.url}'}]}`,
    { source: 'test', env: {} },
  );
  at = await startTestGateway({ networks });
  key = (await at.makeKey()).key;
  const signer = createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/0.0.0');
  await at.database.manifest.registerKey(signer.publicKey);
  await at.stage(100, 149);
  for (let start = 100; start < 150; start += 2) {
    file = (await at.publish(start, start + 1, ['logs'])).get('logs') as Buffer;
  }
  await at.database.network('ethereum').manifest.sealPending('logs', signer, 100);
});
afterAll(async () => {
  await at?.close();
  await node?.close();
});

const callText = (digit: string, id: unknown = 1): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'eth_getTransactionByHash',
    params: [`0x${digit.repeat(64)}`],
  });
const post = (body: string, headers: Record<string, string> = {}) =>
  ask(at.url, `/ethereum/v1/${key}`, { method: 'POST', body, headers: { ...JSON_TYPE, ...headers } });
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  ask(at.url, path, { headers, method });
const decoded = ({ headers, body }: Answer): string => {
  const coding = headers['content-encoding'];
  if (coding === undefined) return body.toString();
  return (coding === 'br' ? brotliDecompressSync : gunzipSync)(body).toString();
};

describe('an answer to JSON-RPC', () => {
  it.each([
    ['small', 1_000, false],
    ['long', 10_000, true],
    ['in pieces', 300_000, true],
    ['streamed', 3_000_000, true],
  ])('that is %s is the same with a coding and without', async (_, length, isCoded) => {
    says = () => ({ result: 'ab'.repeat(length / 2) });
    const plain = await post(callText('1'));
    expect(plain.headers['content-encoding']).toBe(undefined);
    expect(plain.headers.vary).toBe(isCoded ? 'accept-encoding' : undefined);
    for (const coding of ['gzip', 'br']) {
      const answer = await post(callText('1'), { 'accept-encoding': `${coding}, identity;q=0.1` });
      expect(answer.headers['content-encoding']).toBe(isCoded ? coding : undefined);
      expect(answer.headers.vary).toBe(isCoded ? 'accept-encoding' : undefined);
      expect(decoded(answer) === plain.text).toBe(true);
      if (isCoded) expect(answer.body.length).toBeLessThan(length / 10);
    }
  });

  it('has its compressed length in the log, and an id that is not ASCII', async () => {
    says = () => ({ result: 'ab'.repeat(50_000) });
    const before = at.log.length;
    const answer = await post(callText('2', 'é'), { 'accept-encoding': 'gzip' });
    expect(JSON.parse(decoded(answer))).toMatchObject({ id: 'é' });
    await vi.waitFor(() => {
      const lines = at.log.slice(before).filter((line) => line.includes('"route":"rpc"'));
      expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ bytes: answer.body.length }]);
    }, WAIT);
  });

  it('to a page names both headers that it varies with', async () => {
    const { key: restricted } = await at.database.keys.create({
      application: 'page',
      network: null,
      plan: 'unlimited',
      expiresAt: null,
      origins: ['https://app.example.com'],
    });
    says = () => ({ result: 'ab'.repeat(5_000) });
    const answer = await ask(at.url, `/ethereum/v1/${restricted}`, {
      method: 'POST',
      body: callText('3'),
      headers: { ...JSON_TYPE, origin: 'https://app.example.com', 'accept-encoding': 'gzip' },
    });
    expect([answer.status, answer.headers.vary]).toEqual([200, 'Origin, accept-encoding']);
  });

  it('in a batch can be read before the next one is there', async () => {
    let release = (): void => undefined;
    const held = new Promise<ScriptedAnswer>((resolve) => {
      release = () => resolve({ result: 'late' });
    });
    says = (hash) => (hash.includes('5') ? held : { result: 'early' });
    const sent = request(`${at.url}/ethereum/v1/${key}`, {
      method: 'POST',
      headers: { ...JSON_TYPE, 'accept-encoding': 'gzip' },
    });
    sent.end(`[${callText('4')},${callText('5')}]`);
    const [response] = await once(sent, 'response');
    expect(response.headers['content-encoding']).toBe('gzip');
    let text = '';
    const plain = response.pipe(createGunzip()).on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    await vi.waitFor(() => expect(text).toContain('early'), WAIT);
    release();
    await once(plain, 'end');
    expect(JSON.parse(text)).toMatchObject([{ result: 'early' }, { result: 'late' }]);
  });

  it('whose client goes away in the middle leaves nothing behind', async () => {
    says = () => ({ result: Array.from({ length: 200_000 }, (_, n) => `${Math.sin(n)}`) });
    const before = at.log.length;
    const sent = request(`${at.url}/ethereum/v1/${key}`, {
      method: 'POST',
      headers: { ...JSON_TYPE, 'accept-encoding': 'br' },
    });
    sent.on('error', () => undefined).end(callText('6'));
    const [response] = await once(sent, 'response');
    response.on('error', () => undefined);
    sent.destroy();
    await vi.waitFor(
      () => expect(at.log.slice(before).some((line) => line.includes('"aborted":true'))).toBe(true),
      WAIT,
    );
    says = () => ({ result: 'ab'.repeat(5_000) });
    expect(decoded(await post(callText('7'), { 'accept-encoding': 'br' }))).toContain('abab');
  });
});

it.each([
  ['openapi', () => '/openapi.json'],
  ['coverage', () => `/ethereum/v1/${key}/bundle-api/coverage`],
  ['the keys', () => '/.well-known/packhouse-manifest-keys.json'],
  ['a pointer', () => `/ethereum/v1/${key}/bundle-api/logs/100`],
  ['a refusal', () => `/ethereum/v1/${key}/bundle-api/logs/5`],
])('%s is compressed only if it is long, and HEAD says the same', async (_, path) => {
  const plain = await get(path());
  const isCoded = plain.body.length >= 2_048;
  const answer = await get(path(), { 'accept-encoding': 'gzip' });
  const head = await get(path(), { 'accept-encoding': 'gzip' }, 'HEAD');
  for (const { headers } of [answer, head]) {
    expect(headers['content-encoding']).toBe(isCoded ? 'gzip' : undefined);
    expect(headers['content-type']).toBe(plain.headers['content-type']);
    expect(headers.vary).toBe(isCoded ? 'accept-encoding' : undefined);
  }
  expect(head.body.length).toBe(0);
  const text = decoded(answer);
  if (plain.status === 200) expect(text).toBe(plain.text);
  // Whoever refuses it as it is gets even a small one compressed.
  const always = await get(path(), { 'accept-encoding': 'gzip, identity;q=0' });
  expect(always.headers['content-encoding']).toBe('gzip');
  expect(decoded(always).length).toBe(plain.text.length);
});

it('a manifest has an entity tag of its own for each coding, and 304 for that one alone', async () => {
  const path = `/ethereum/v1/${key}/bundle-api/manifest?kind=logs`;
  const codings: Record<string, string>[] = [{}, { 'accept-encoding': 'gzip' }, { 'accept-encoding': 'br' }];
  const answers = await Promise.all(codings.map((headers) => get(path, headers)));
  const tags = answers.map(({ headers }) => headers.etag as string);
  expect(new Set(tags).size).toBe(3);
  expect(answers.map(({ headers }) => headers['content-encoding'])).toEqual([undefined, 'gzip', 'br']);
  expect(new Set(answers.map(decoded)).size).toBe(1);
  for (const [n, headers] of codings.entries()) {
    const tag = tags[n] as string;
    const head = await get(path, headers, 'HEAD');
    expect([head.status, head.headers.etag, head.headers.vary]).toEqual([200, tag, 'accept-encoding']);
    expect(head.headers['content-encoding']).toBe(answers[n]?.headers['content-encoding']);
    for (const [m, other] of tags.entries()) {
      const again = await get(path, { ...headers, 'if-none-match': other });
      expect([again.status, again.headers.etag, again.headers.vary]).toEqual([
        m === n ? 304 : 200,
        tag,
        'accept-encoding',
      ]);
      if (m === n) expect(again.headers['content-encoding']).toBe(undefined);
    }
  }
});

it('a bundle, or a range of it, is sent as it is, with the one tag that it has', async () => {
  const path = '/ethereum/files/logs/148-149.json.gz';
  const headers = { authorization: `Bearer ${key}`, 'accept-encoding': 'gzip, br' };
  const whole = await get(path, headers);
  expect(whole.status).toBe(200);
  expect(whole.body.equals(file)).toBe(true);
  const part = await get(path, { ...headers, range: 'bytes=5-9' });
  expect([part.status, part.body.equals(file.subarray(5, 10))]).toEqual([206, true]);
  const head = await get(path, headers, 'HEAD');
  for (const answer of [whole, part, head]) {
    expect(answer.headers['content-encoding']).toBe(undefined);
    expect(answer.headers.etag).toBe(whole.headers.etag);
  }
  expect(head.headers['content-length']).toBe(String(file.length));
});

it('a body with a content-encoding is refused and not decoded, however small', async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));
  const answer = await new Promise<{ status?: number; text: string; accepts?: string }>((resolve, reject) => {
    const sent = request(
      `${at.url}/ethereum/v1/${key}`,
      { method: 'POST', headers: { ...JSON_TYPE, 'content-encoding': 'gzip' } },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.on('end', () => {
          const { statusCode: status, headers } = response;
          resolve({
            text,
            ...(status === undefined ? {} : { status }),
            accepts: String(headers['accept-encoding']),
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(bomb);
  });
  expect([answer.status, answer.accepts]).toEqual([415, 'identity']);
  expect(JSON.parse(answer.text)).toMatchObject({ error: { data: { reason: 'media-type-unsupported' } } });
  const plain = await post(callText('8'), { 'content-encoding': 'identity' });
  expect(plain.status).toBe(200);
});
