import { createHash, createPublicKey, verify } from 'node:crypto';
import { runSql } from '@packhouse/local';
import {
  createSigner,
  createVerifier,
  entryText,
  makeSigningKey,
  parseEntry,
  readSigningKey,
  type SealedEntry,
  toPublicKey,
} from '@packhouse/manifest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../../testing/ask.js';
import { startTestGateway, type TestGateway } from '../../testing/test-gateway.js';

const newSigner = () => createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/0.0.0');

describe('GET {base_url}<KEY>/bundle-api/manifest', () => {
  let at: TestGateway;
  let key: string;
  const signer = newSigner();
  const manifest = (query: string, headers: Record<string, string> = {}, method = 'GET', apiKey = key) =>
    ask(at.url, `/ethereum/v1/${apiKey}/bundle-api/manifest${query}`, { headers, method });
  const toEntries = (body: string): SealedEntry[] =>
    body
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as SealedEntry);

  beforeAll(async () => {
    at = await startTestGateway();
    ({ key } = await at.makeKey());
    await at.database.manifest.registerKey(signer.publicKey);
    await at.stage(2_000, 2_024);
    for (let start = 2_000; start < 2_024; start += 2) await at.publish(start, start + 1, ['logs', 'blocks']);
    await at.publish(2_024, 2_024, ['logs']);
    await at.database.network('ethereum').manifest.sealPending('logs', signer, 100);
    await at.database.network('ethereum').manifest.sealPending('blocks', signer, 100);
  });
  afterAll(() => at.close());

  it('gives every entry as a line that its hash and its signature prove, chained from the first', async () => {
    const answer = await manifest('?kind=logs');
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/x-ndjson',
      'cache-control': 'private, no-cache',
      'packhouse-manifest-next': 'ethereum:logs:12',
      'packhouse-manifest-entries': '13',
    });
    expect(answer.headers.link).toBeUndefined();
    const entries = toEntries(answer.text);
    expect(entries.map((entry) => entry.sequence)).toEqual(Array.from({ length: 13 }, (_, i) => i));
    const { keys } = (await ask(at.url, '/.well-known/packhouse-manifest-keys.json')).json() as {
      keys: { keyId: string; pem: string; publicKey: string; jwk: object; retiredAt: null }[];
    };
    expect(keys).toMatchObject([
      {
        keyId: signer.keyId,
        algorithm: 'ed25519',
        publicKey: signer.publicKey.toString('base64'),
        jwk: { kty: 'OKP', crv: 'Ed25519', kid: signer.keyId },
        retiredAt: null,
      },
    ]);
    const publicKey = createPublicKey(keys[0]?.pem ?? '');
    let previous = '0'.repeat(64);
    for (const [i, line] of answer.text.trimEnd().split('\n').entries()) {
      const entry = entries[i] as SealedEntry;
      expect(entry.previous).toBe(previous);
      // As any reader would: the text before the last two fields was hashed and signed.
      const text = `${line.slice(0, line.indexOf(',"hash":"'))}}`;
      expect(text).toBe(entryText(entry));
      expect(createHash('sha256').update(text).digest('hex')).toBe(entry.hash);
      expect(verify(null, Buffer.from(text), publicKey, Buffer.from(entry.signature, 'base64'))).toBe(true);
      previous = entry.hash;
    }
  });

  it('comes in pages: the cursor of one leads to the next, and all of them are the whole', async () => {
    const whole = (await manifest('?kind=logs')).text;
    let text = '';
    let query = '?kind=logs&limit=5';
    for (let pages = 0; pages < 3; pages += 1) {
      const page = await manifest(query);
      text += page.text;
      const link = /^<manifest(\?.*)>; rel="next"$/.exec(page.headers.link as string)?.[1];
      if (link === undefined) {
        expect(page.headers['packhouse-manifest-next']).toBe('ethereum:logs:12');
        break;
      }
      expect(page.headers['cache-control']).toContain('immutable');
      query = link;
    }
    expect(text).toBe(whole);
    expect((await manifest('?kind=logs&after=9')).text).toBe(
      `${whole.split('\n').slice(10, 13).join('\n')}\n`,
    );
    expect((await manifest('?kind=logs&after=ethereum:logs:9')).text).toBe(
      (await manifest('?kind=logs&after=9')).text,
    );
  });

  it('has nothing to give behind the last entry, and the same cursor goes on later', async () => {
    const answer = await manifest('?kind=logs&after=ethereum:logs:12');
    expect(answer).toMatchObject({ status: 200, text: '' });
    expect(answer.headers['packhouse-manifest-next']).toBe('ethereum:logs:12');
    const empty = await manifest('?kind=traces');
    expect(empty).toMatchObject({ status: 200, text: '' });
    expect(empty.headers['packhouse-manifest-next']).toBe('ethereum:traces:-1');
    expect((await manifest('?kind=traces&after=ethereum:traces:-1')).status).toBe(200);
  });

  it('gives the newest entry of every kind, as its manifest does: a signed and dated end of the log', async () => {
    const head = (apiKey = key, method = 'GET') =>
      ask(at.url, `/ethereum/v1/${apiKey}/bundle-api/manifest/head`, { method });
    const answer = await head();
    expect(answer).toMatchObject({ status: 200, headers: { 'cache-control': 'private, no-cache' } });
    expect(answer.headers['content-type']).toBe('application/x-ndjson');
    expect(answer.headers['packhouse-manifest-blocks']).toBe('blocks=2000-2023, logs=2000-2024');
    const last = async (kind: string) => (await manifest(`?kind=${kind}`)).text.trimEnd().split('\n').at(-1);
    expect(answer.text).toBe(`${await last('blocks')}\n${await last('logs')}\n`);
    expect(toEntries(answer.text).map(({ kind, sequence }) => [kind, sequence])).toEqual([
      ['blocks', 11],
      ['logs', 12],
    ]);
    expect((await head('ph_none')).status).toBe(401);
    expect((await head(key, 'POST')).status).toBe(405);
    expect((await head(key, 'HEAD')).text).toBe('');
  });

  it('answers 304 where nothing was published since, and HEAD with the same headers', async () => {
    const { headers } = await manifest('?kind=logs');
    expect(await manifest('?kind=logs', { 'if-none-match': headers.etag as string })).toMatchObject({
      status: 304,
      text: '',
    });
    const head = await manifest('?kind=logs', {}, 'HEAD');
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(head.headers.etag).toBe(headers.etag);
    expect((await manifest('?kind=logs&after=0')).headers.etag).not.toBe(headers.etag);
    expect((await manifest('?kind=logs&limit=5')).headers.etag).not.toBe(headers.etag);
  });

  it('refuses a cursor of another network or kind, one behind the end, and what is none', async () => {
    for (const [query, reason, words] of [
      ['?kind=logs&after=holesky:logs:1', 'cursor-invalid', 'belongs to the manifest of logs of holesky'],
      ['?kind=logs&after=ethereum:blocks:1', 'cursor-invalid', 'blocks of ethereum, not of logs of ethereum'],
      ['?kind=logs&after=13', 'cursor-invalid', 'ends at entry 12'],
      ['?kind=traces&after=0', 'cursor-invalid', 'has no entry yet'],
      ['?kind=logs&after=x', 'cursor-invalid', 'sequence number'],
      ['?kind=logs&limit=0', 'parameter-invalid', '1 to 100000'],
      ['?kind=logs&limit=100001', 'parameter-invalid', '1 to 100000'],
      ['?kind=logs&kind=blocks', 'parameter-invalid', 'is repeated'],
      ['', 'parameter-invalid', 'blocks, transactions'],
    ] as const) {
      const answer = await manifest(query);
      expect(answer.status).toBe(400);
      expect(answer.json()).toMatchObject({ reason, detail: expect.stringContaining(words) });
    }
    expect((await manifest('?kind=uncles')).json()).toMatchObject({ reason: 'kind-unknown' });
    expect((await manifest('?kind=logs', {}, 'GET', 'ph_none')).status).toBe(401);
    expect((await manifest('?kind=logs', {}, 'POST')).status).toBe(405);
  });

  it('shows all entries to every plan: the chain of a part could not be checked', async () => {
    await at.stage(3_001_000, 3_001_001);
    await at.publish(3_001_000, 3_001_001, ['receipts']);
    await at.database.network('ethereum').manifest.sealPending('receipts', signer, 100);
    const free = await at.makeKey('free');
    const answer = await manifest('?kind=receipts', {}, 'GET', free.key);
    expect(toEntries(answer.text)).toMatchObject([{ from: 3_001_000 }]);
  });

  describe('of a range of blocks', () => {
    const ranges = (body: string): string[] =>
      toEntries(body).map(({ from: start, to: end }) => `${start}-${end}`);
    const keys = new Map([[signer.keyId, toPublicKey(signer.publicKey)]]);
    beforeAll(async () => {
      // Behind the others in the log, before them on the chain.
      await at.stage(1_000, 1_009);
      const { bundles, manifest: log } = at.database.network('ethereum');
      for (const start of [1_008, 1_000, 1_004]) {
        await at.publish(start, start + 1, ['traces']);
        await log.sealPending('traces', signer, 100);
      }
      const row = await bundles.covering('traces', 1_000);
      if (row === null) throw new Error('not published');
      const { network: _network, version: _version, publishedAt: _at, ...bundle } = row;
      const objectKey = bundle.objectKey.replace('.json.gz', '.v2.json.gz');
      await bundles.supersede(
        { ...bundle, objectKey, sha256: 'cd'.repeat(32) },
        { replaces: row.sha256, reason: 'test', sealing: { signer, clients: [] } },
      );
    });

    it('has the entries that touch it, all versions, as the whole log has them', async () => {
      const whole = (await manifest('?kind=traces')).text.split('\n');
      expect(ranges(whole.join('\n'))).toEqual(['1008-1009', '1000-1001', '1004-1005', '1000-1001']);
      const part = await manifest('?kind=traces&from=1001&to=1004');
      expect(part.text.split('\n')).toEqual(whole.slice(1));
      expect(part.headers).toMatchObject({
        'packhouse-manifest-next': 'ethereum:traces:3',
        'packhouse-manifest-entries': '4',
        'cache-control': 'private, no-cache',
      });
      expect(ranges((await manifest('?kind=traces&from=1005')).text)).toEqual(['1008-1009', '1004-1005']);
      expect(ranges((await manifest('?kind=traces&to=1003')).text)).toEqual(['1000-1001', '1000-1001']);
      expect((await manifest('?kind=traces&from=1002&to=1003')).text).toBe('');
      const verifier = createVerifier(keys, { part: true });
      for (const line of part.text.trimEnd().split('\n')) verifier.push(parseEntry(line, 'A line'));
    });

    it('comes in pages, and its last cursor finds only what is published later', async () => {
      let query = '?kind=traces&from=1000&to=1005&limit=2';
      const first = await manifest(query);
      expect(first.headers['cache-control']).toContain('immutable');
      expect(first.headers['packhouse-manifest-next']).toBe('ethereum:traces:2');
      query = /^<manifest(\?.*)>; rel="next"$/.exec(first.headers.link as string)?.[1] as string;
      const second = await manifest(query);
      expect([...ranges(first.text), ...ranges(second.text)]).toEqual([
        '1000-1001',
        '1004-1005',
        '1000-1001',
      ]);
      expect(second.headers.link).toBeUndefined();
      const next = second.headers['packhouse-manifest-next'] as string;
      expect(next).toBe('ethereum:traces:3');
      const behind = `?kind=traces&from=1000&to=1007&after=${next}`;
      expect((await manifest(behind)).text).toBe('');
      await at.publish(1_006, 1_007, ['traces']);
      await at.publish(1_002, 1_002, ['traces']);
      await at.database.network('ethereum').manifest.sealPending('traces', signer, 100);
      expect(ranges((await manifest(behind)).text).sort()).toEqual(['1002-1002', '1006-1007']);
    });

    it('is what the client has until an entry of the range is new', async () => {
      const part = '?kind=traces&from=1000&to=1001';
      const tag = (await manifest(part)).headers.etag as string;
      expect((await manifest('?kind=traces&from=1000&to=1000')).headers.etag).not.toBe(tag);
      await at.publish(1_003, 1_003, ['traces']);
      await at.database.network('ethereum').manifest.sealPending('traces', signer, 100);
      expect(await manifest(part, { 'if-none-match': tag })).toMatchObject({ status: 304, text: '' });
      expect((await manifest('?kind=traces&from=1000&to=1003')).headers.etag).not.toBe(tag);
    });

    it.each([
      ['&from=-1', 'block-number-invalid', 'decimal integer'],
      ['&to=0x1', 'block-number-invalid', 'decimal integer'],
      ['&from=', 'block-number-invalid', 'decimal integer'],
      ['&from=2&to=1', 'parameter-invalid', 'The range is reversed'],
      ['&from=1&from=2', 'parameter-invalid', 'from is repeated'],
      ['&from=1&after=999', 'cursor-invalid', 'ends at entry'],
    ])('refuses %s', async (query, reason, words) => {
      const answer = await manifest(`?kind=traces${query}`);
      expect(answer.status).toBe(400);
      expect(answer.json()).toMatchObject({ reason, detail: expect.stringContaining(words) });
    });
  });

  it('reads page after page as they are taken, more than one of the database', async () => {
    const other = await startTestGateway();
    try {
      const { key: otherKey } = await other.makeKey();
      await other.database.manifest.registerKey(signer.publicKey);
      await other.stage(0, 1_023);
      await other.stage(1_024, 1_100);
      for (let block = 0; block <= 1_100; block += 1) await other.publish(block, block, ['logs']);
      for (let more = 1; more > 0; ) {
        more = await other.database.network('ethereum').manifest.sealPending('logs', signer, 400);
      }
      const path = `/ethereum/v1/${otherKey}/bundle-api/manifest?kind=logs`;
      const answer = await ask(other.url, path);
      expect(toEntries(answer.text).map((entry) => entry.from)).toEqual(
        Array.from({ length: 1_101 }, (_, i) => i),
      );

      // As a program that appended behind a lost entry would have left it.
      await runSql(
        other.databaseUrl,
        'ALTER TABLE packhouse.manifest DISABLE TRIGGER manifest_is_append_only',
      );
      await runSql(other.databaseUrl, 'DELETE FROM packhouse.manifest WHERE sequence BETWEEN 600 AND 610');
      await expect(ask(other.url, path)).rejects.toThrow();
      await expect.poll(() => other.log.join('')).toContain('"outcome":"manifest-damaged"');
      await runSql(other.databaseUrl, 'DELETE FROM packhouse.manifest WHERE sequence BETWEEN 13 AND 23');
      const damaged = await ask(other.url, path);
      expect(damaged.status).toBe(503);
      expect(damaged.json()).toMatchObject({
        reason: 'manifest-damaged',
        detail: expect.stringContaining('lacks 11'),
      });
    } finally {
      await other.close();
    }
  }, 240_000);
});
