import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { describeError, isPackhouseError } from '@packhouse/runtime';
import { type ScriptedS3, type ScriptedS3Fault, startScriptedS3 } from '@packhouse/scripted-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createS3Store, type S3StoreOptions } from './create-s3-store.js';
import type { ObjectStore } from './object-store.js';
import { probeStore } from './open-object-store.js';
import { coded, objectStoreConformance, optionsFor } from './testing/conformance.js';

const SECRET = 'a-secret-that-appears-nowhere';

async function connect(server: ScriptedS3, more: Partial<S3StoreOptions> = {}): Promise<ObjectStore> {
  return createS3Store({
    bucket: server.bucket,
    endpoint: server.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: server.accessKeyId, secretAccessKey: SECRET },
    ...more,
  });
}

for (const prefix of [undefined, 'some/prefix']) {
  objectStoreConformance(`S3, ${prefix === undefined ? 'a whole bucket' : 'under a prefix'}`, {
    verifies: true,
    open: async () => {
      const server = await startScriptedS3();
      return { store: await connect(server, { prefix }), close: server.close };
    },
  });
}

const real = process.env.S3_TEST_ENDPOINT;
if (real === undefined) {
  describe.skip('an object store at an address of yours (needs S3_TEST_ENDPOINT)', () => {
    it('is like every other', () => {});
  });
} else {
  const bucket = process.env.S3_TEST_BUCKET ?? 'packhouse-test';
  objectStoreConformance(`the S3 at S3_TEST_ENDPOINT, bucket ${bucket}`, {
    verifies: process.env.S3_TEST_VERIFIES !== 'false',
    open: async () => ({
      store: await createS3Store({ bucket, prefix: `packhouse-test/${randomUUID()}`, endpoint: real }),
      close: async () => {},
    }),
  });
}

for (const conditions of ['ignored', 'unknown'] as const) {
  objectStoreConformance(`S3 with conditions of a put ${conditions}`, {
    verifies: true,
    open: async () => {
      const server = await startScriptedS3({ conditions });
      return { store: await connect(server), close: server.close };
    },
  });
}

it('an object that is written once costs one request, after one for the store', async () => {
  const server = await startScriptedS3();
  const body = Buffer.from('published');
  const put = optionsFor(body, { once: true });
  for (const probes of [2, 1]) {
    const store = await connect(server);
    server.requests.length = 0;
    for (const name of ['a', 'b', 'c']) await store.put(`${probes}/${name}`, body, put);
    expect(server.requests).toEqual([
      ...Array(probes).fill('PUT /test-bucket/put-once-probe'),
      ...['a', 'b', 'c'].map((name) => `PUT /test-bucket/${probes}/${name}`),
    ]);
    await store.close();
  }
  // Written, and the answer lost: the second try finds it.
  const store = await connect(server);
  await store.put('d', body, put);
  server.script('PUT', 'resetAfterWrite');
  expect(await store.put('e', body, put)).toEqual({ verified: true });
  await store.close();
  await server.close();
});

describe('S3 that misbehaves', () => {
  let server: ScriptedS3;
  let store: ObjectStore;
  const body = randomBytes(300_000);
  const key = 'net/logs/0-1.json.gz';
  beforeAll(async () => {
    server = await startScriptedS3();
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    store = await connect(server);
    server.objects.clear();
    await store.put(key, body, optionsFor(body));
    server.requests.length = 0;
  });
  afterEach(() => store.close());
  const puts = () => server.requests.filter((request) => request.startsWith('PUT')).length;
  const gets = () => server.requests.filter((request) => request.startsWith('GET')).length;

  it('and asks for fewer requests is asked again', async () => {
    server.script('PUT', 'slowDown', 'slowDown');
    server.script('GET', 'slowDown');
    expect(await store.put('again', body, optionsFor(body))).toEqual({ verified: true });
    expect((await store.read('again')).equals(body)).toBe(true);
    expect([puts(), gets()]).toEqual([3, 2]);
  });

  it('and resets connections is asked again, whether or not it had done its work', async () => {
    server.script('PUT', 'resetBefore', 'resetAfterWrite');
    expect(await store.put('again', body, optionsFor(body))).toEqual({ verified: true });
    expect(server.objects.get('again')?.body.equals(body)).toBe(true);
    expect(puts()).toBe(3);
  });

  it('is given up after a bounded number of attempts, and the error says what happened', async () => {
    await store.close();
    store = await connect(server, { maxAttempts: 2 });
    server.script('PUT', 'slowDown', 'slowDown');
    const error: unknown = await store.put('never', body, optionsFor(body)).catch((cause: unknown) => cause);
    expect(error).toEqual(coded('OBJECT_STORE_UNAVAILABLE'));
    expect(isPackhouseError(error) && error.retryable).toBe(true);
    expect(describeError(error)).toMatch(
      /^never could not be written to s3:\/\/test-bucket at 127\.0\.0\.1:\d+ after 2 attempts: SlowDown, status 503\./,
    );
    expect(puts()).toBe(2);
  });

  it('and breaks a body off is asked for it again', async () => {
    server.script('GET', 'truncate', 'truncate');
    expect((await store.read(key)).equals(body)).toBe(true);
    expect(gets()).toBe(3);
    server.script('GET', 'truncate', 'truncate', 'truncate');
    await expect(store.read(key)).rejects.toThrow(coded('OBJECT_STORE_UNAVAILABLE'));
  });

  it('and breaks a stream off never makes it look whole', async () => {
    server.script('GET', 'truncate');
    await expect(buffer(await store.stream(key))).rejects.toThrow(coded('OBJECT_STORE_UNAVAILABLE'));
    expect((await buffer(await store.stream(key))).equals(body)).toBe(true);
  });

  it('and echoes another checksum is not believed', async () => {
    server.script('PUT', 'wrongChecksum');
    await expect(store.put('other', body, optionsFor(body))).rejects.toThrow(coded('OBJECT_MISMATCH'));
    server.script('PUT', 'badDigest');
    await expect(store.put('other', body, optionsFor(body))).rejects.toThrow(coded('OBJECT_MISMATCH'));
  });

  it('and echoes no checksum has verified nothing', async () => {
    server.script('PUT', 'noChecksum');
    expect(await store.put('other', body, optionsFor(body))).toEqual({ verified: false });
  });

  it('and loses a read once has lost it once', async () => {
    server.script('GET', 'missing');
    await expect(store.read(key)).rejects.toThrow(coded('OBJECT_MISSING'));
    expect((await store.read(key)).equals(body)).toBe(true);
  });

  it('and answers by a proxy in HTML is asked again', async () => {
    server.script('GET', 'html');
    expect((await store.read(key)).equals(body)).toBe(true);
    server.script('HEAD', 'html');
    expect(await store.head(key)).toMatchObject({ size: body.length });
  });

  it('and is full says so', async () => {
    await store.close();
    store = await connect(server, { maxAttempts: 1 });
    server.script('PUT', 'storageFull');
    await expect(store.put('more', body, optionsFor(body))).rejects.toThrow(coded('DISK_FULL'));
  });

  it('and falls silent is not waited for without end', async () => {
    await store.close();
    store = await connect(server, { maxAttempts: 2, idleTimeoutMs: 200 });
    server.script('GET', 'silence', 'silence');
    await expect(store.read(key)).rejects.toThrow(coded('OBJECT_STORE_UNAVAILABLE'));
    server.script('GET', 'stall', 'stall', 'stall');
    await expect(store.read(key)).rejects.toThrow(coded('OBJECT_STORE_UNAVAILABLE'));
    server.script('GET', 'stall');
    await expect(buffer(await store.stream(key))).rejects.toThrow(coded('OBJECT_STORE_UNAVAILABLE'));
    expect((await store.read(key)).equals(body)).toBe(true);
  });

  it('and stalls can be left by the signal', async () => {
    const reason = new Error('draining');
    const controller = new AbortController();
    server.script('GET', 'stall', 'silence', 'stall');
    const streamed = buffer(await store.stream(key, { signal: controller.signal }));
    const reads = [
      store.read(key, { signal: controller.signal }),
      store.read(key, { signal: controller.signal }),
    ];
    const ended = Promise.all([streamed, ...reads].map((work) => expect(work).rejects.toBe(reason)));
    await expect.poll(gets).toBe(3);
    controller.abort(reason);
    await ended;
  });

  it('keeps the sha256 also where it keeps no checksums', async () => {
    const kept = server.objects.get(key);
    if (kept !== undefined) kept.checksum = undefined;
    expect(await store.head(key)).toEqual({
      key,
      size: body.length,
      sha256: optionsFor(body).sha256,
      metadata: {},
      modifiedAt: expect.any(Date),
    });
  });
});

describe('S3 that refuses headers about checksums', () => {
  const body = randomBytes(1_000);
  const use = async (checksums: S3StoreOptions['checksums'], work: (store: ObjectStore) => Promise<void>) => {
    const server = await startScriptedS3({ checksums: 'unknown' });
    const store = await connect(server, { checksums });
    try {
      await work(store);
      return server.requests.map((request) => request.split(' ')[0]);
    } finally {
      await store.close();
      await server.close();
    }
  };

  it('is asked without them from the second request on', async () => {
    const requests = await use('auto', async (store) => {
      for (const key of ['a', 'b']) {
        expect(await store.put(key, body, optionsFor(body))).toEqual({ verified: false });
        expect(await store.head(key)).toMatchObject({ size: 1_000, sha256: optionsFor(body).sha256 });
      }
      expect(await store.head('c')).toBeNull();
    });
    expect(requests).toEqual(['PUT', 'PUT', 'HEAD', 'HEAD', 'PUT', 'HEAD', 'HEAD']);
  });

  it('is never asked with them by the setting md5', async () => {
    const requests = await use('md5', async (store) => {
      await store.put('a', body, optionsFor(body));
      await store.head('a');
    });
    expect(requests).toEqual(['PUT', 'HEAD']);
  });

  it('refuses every object by the setting sha256', async () => {
    await use('sha256', async (store) => {
      await expect(store.put('a', body, optionsFor(body))).rejects.toThrow(coded('OBJECT_STORE_INVALID'));
    });
  });
});

describe('S3 that is set up wrongly', () => {
  let server: ScriptedS3;
  beforeAll(async () => {
    server = await startScriptedS3();
  });
  afterAll(() => server.close());

  const failure = async (more: Partial<S3StoreOptions>): Promise<unknown> => {
    const store = await connect(server, { maxAttempts: 1, ...more });
    try {
      return await store
        .put('key', Buffer.from('x'), optionsFor(Buffer.from('x')))
        .catch((cause: unknown) => cause);
    } finally {
      await store.close();
    }
  };

  it('is a wrong bucket, key or right: the error says which and names no secret', async () => {
    const bucket = await failure({ bucket: 'another-bucket' });
    expect(bucket).toEqual(coded('OBJECT_STORE_INVALID'));
    expect(describeError(bucket)).toMatch(/no such bucket/i);
    const credentials = { accessKeyId: 'AKIAUNKNOWN', secretAccessKey: SECRET };
    const unknown = await failure({ credentials });
    expect(unknown).toEqual(coded('OBJECT_STORE_INVALID'));
    expect(describeError(unknown)).toMatch(/AWS_ACCESS_KEY_ID/);
    for (const error of [bucket, unknown] as Error[]) {
      const everything = JSON.stringify([
        error,
        error.stack,
        error.cause,
        (error.cause as Error).stack,
        { ...error },
      ]);
      expect(everything).not.toContain(SECRET);
      expect(everything).not.toContain('AKIAUNKNOWN');
      expect(everything).not.toContain('Signature=');
    }
  });

  it.each<[ScriptedS3Fault, RegExp]>([
    ['invalidAccessKeyId', /InvalidAccessKeyId, status 403\. .*AWS_ACCESS_KEY_ID/],
    ['signatureDoesNotMatch', /SignatureDoesNotMatch, status 403\. .*AWS_SECRET_ACCESS_KEY/],
    ['noSuchBucket', /NoSuchBucket, status 404\. .*OBJECT_STORE/],
    ['requestTimeTooSkewed', /RequestTimeTooSkewed, status 403\. .*clock/],
    // Of VersityGW, for an unknown access key.
    ['userNotFound', /XAdminUserNotFound, status 404\. .*the credentials/],
    ['accessDenied', /AccessDenied, status 403\. .*right/],
    ['authorizationHeaderMalformed', /AuthorizationHeaderMalformed, status 400\. .*AWS_REGION/],
  ])('is %s: what, where, and what to do, after one request', async (fault, sentence) => {
    for (const method of ['PUT', 'GET']) {
      const store = await connect(server, { maxAttempts: fault === 'requestTimeTooSkewed' ? 1 : 5 });
      server.requests.length = 0;
      server.script(method, fault);
      const work =
        method === 'PUT' ? store.put('k', Buffer.from('x'), optionsFor(Buffer.from('x'))) : probeStore(store);
      const error: unknown = await work.catch((cause: unknown) => cause);
      expect(error).toEqual(coded('OBJECT_STORE_INVALID'));
      expect(describeError(error)).toMatch(sentence);
      expect(describeError(error)).toMatch(/ s3:\/\/test-bucket at 127\.0\.0\.1:\d+: /);
      expect(server.requests).toHaveLength(1);
      await store.close();
    }
  });

  it('is no credentials at all', async () => {
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    for (const name of ['AWS_SHARED_CREDENTIALS_FILE', 'AWS_CONFIG_FILE']) vi.stubEnv(name, '/nowhere');
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE'])
      vi.stubEnv(name, undefined);
    try {
      const error = await failure({ credentials: undefined });
      expect(error).toEqual(coded('OBJECT_STORE_INVALID'));
      expect(describeError(error)).toMatch(/No credentials were found: set AWS_ACCESS_KEY_ID/);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('is an address where nobody answers: unavailable, and worth another try', async () => {
    const gone = await startScriptedS3();
    await gone.close();
    const error = await failure({ endpoint: gone.endpoint });
    expect(error).toEqual(coded('OBJECT_STORE_UNAVAILABLE'));
    expect(describeError(error)).toContain('ECONNREFUSED');
  });

  it('is an endpoint that is no address, or one with credentials in it', async () => {
    for (const endpoint of [
      'localhost:9000',
      'ftp://x',
      'http://user:hunter2@host',
      'http://host/?key=hunter2',
      '',
    ]) {
      await expect(connect(server, { endpoint })).rejects.toThrow(
        expect.toSatisfy(
          (error) => isPackhouseError(error, 'OBJECT_STORE_INVALID') && !/hunter2/.test(error.message),
        ),
      );
    }
  });
});

describe('a presigned address', () => {
  let server: ScriptedS3;
  beforeAll(async () => {
    server = await startScriptedS3();
  });
  afterAll(() => server.close());
  const body = randomBytes(1_000);
  const presign = async (more: Partial<S3StoreOptions> = {}): Promise<string> => {
    const store = await connect(server, { prefix: 'some/prefix', ...more });
    await store.put('net/logs/0-1.json.gz', body, optionsFor(body)).catch(() => undefined);
    const address = await store.presign?.('net/logs/0-1.json.gz', 300);
    await store.close();
    return String(address);
  };

  it('serves the object and parts of it without credentials', async () => {
    const address = await presign();
    const whole = await fetch(address);
    expect(Buffer.from(await whole.arrayBuffer()).equals(body)).toBe(true);
    const part = await fetch(address, { headers: { range: 'bytes=5-9' } });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(body.subarray(5, 10))).toBe(true);
    expect(address).not.toContain(SECRET);
  });

  it('is signed as Signature Version 4 says, for the address that clients reach', async () => {
    const publicEndpoint = 'https://s3.example.com';
    const store = await connect(server, { prefix: 'some/prefix', publicEndpoint });
    for (const key of ['net/logs/0-1.json.gz', 'net/logs/2-3.json.gz', 'net/blocks/0-1.json.gz']) {
      expectSigned(String(await store.presign?.(key, 300)), `/test-bucket/some/prefix/${key}`);
    }
    await store.close();
  });

  const expectSigned = (address: string, expectedPath: string): void => {
    const { host, pathname, searchParams } = new URL(address);
    expect([host, pathname]).toEqual(['s3.example.com', expectedPath]);
    const signature = searchParams.get('X-Amz-Signature');
    searchParams.delete('X-Amz-Signature');
    const query = [...searchParams]
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .sort()
      .join('&');
    const request = ['GET', pathname, query, `host:${host}`, '', 'host', 'UNSIGNED-PAYLOAD'].join('\n');
    const time = String(searchParams.get('X-Amz-Date'));
    const scope = `${time.slice(0, 8)}/us-east-1/s3/aws4_request`;
    const text = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(request).digest('hex')].join(
      '\n',
    );
    const key = scope
      .split('/')
      .reduce<string | Buffer>(
        (from, part) => createHmac('sha256', from).update(part).digest(),
        `AWS4${SECRET}`,
      );
    expect(signature).toBe(createHmac('sha256', key).update(text).digest('hex'));
    expect(searchParams.get('X-Amz-Credential')).toBe(`${server.accessKeyId}/${scope}`);
  };
});
