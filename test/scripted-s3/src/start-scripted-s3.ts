import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Faults that are an answer of S3: its status and its code. */
const REFUSALS = {
  slowDown: [503, 'SlowDown'],
  storageFull: [507, 'XMinioStorageFull'],
  badDigest: [400, 'BadDigest'],
  missing: [404, 'NoSuchKey'],
  noSuchBucket: [404, 'NoSuchBucket'],
  invalidAccessKeyId: [403, 'InvalidAccessKeyId'],
  signatureDoesNotMatch: [403, 'SignatureDoesNotMatch'],
  requestTimeTooSkewed: [403, 'RequestTimeTooSkewed'],
  accessDenied: [403, 'AccessDenied'],
  authorizationHeaderMalformed: [400, 'AuthorizationHeaderMalformed'],
  userNotFound: [404, 'XAdminUserNotFound'],
} as const satisfies Record<string, readonly [number, string]>;

/** What may go wrong with a request; each is done once, with the first request of the method. `slow` is a second. */
export type ScriptedS3Fault =
  | keyof typeof REFUSALS
  | 'resetBefore'
  | 'resetAfterWrite'
  | 'truncate'
  | 'stall'
  | 'silence'
  | 'slow'
  | 'wrongChecksum'
  | 'noChecksum'
  | 'html'
  | 'changeBody';

interface Kept {
  body: Buffer;
  contentType: string;
  metadata: Record<string, string>;
  checksum: string | undefined;
  /** Absent if a test put it here by hand: the server then says nothing of it. */
  modifiedAt?: Date;
}

/** A request as it came in. */
interface ScriptedS3Request {
  method: string;
  key: string;
  /** What the client says it is. */
  userAgent: string;
}

/** What watches and disturbs the server. */
interface ScriptedS3Options {
  /** Told of every request before it is answered; what it returns goes wrong with that one. */
  onRequest?: (request: ScriptedS3Request) => ScriptedS3Fault | undefined;
  /** Told of every object that was written, also where the answer is lost. */
  onWritten?: (key: string, body: Buffer) => void;
  /** `unknown`: whatever has a header about checksums is refused as not implemented. A put needs SHA-256 or MD5. */
  checksums?: 'kept' | 'unknown';
  /** What is done with `If-None-Match: *` of a put; default `kept`. `unknown`: refused as not implemented. */
  conditions?: 'kept' | 'ignored' | 'unknown';
  /** The address that it listens at; default: 127.0.0.1. */
  host?: string;
}

/** An S3-compatible server in this process that does what it is told, also wrong. */
export interface ScriptedS3 {
  endpoint: string;
  bucket: string;
  accessKeyId: string;
  objects: Map<string, Kept>;
  /** Every request: method and path. */
  requests: string[];
  /** Lets the next requests of a method fail, in this order. */
  script(method: string, ...faults: ScriptedS3Fault[]): void;
  close(): Promise<void>;
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/[a-z0-9-]+\/s3\/aws4_request, ?SignedHeaders=[a-z0-9;-]+, ?Signature=[0-9a-f]{64}$/;

function sha256(body: Buffer, encoding: 'hex' | 'base64'): string {
  return createHash('sha256').update(body).digest(encoding);
}

async function getBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function refuse(response: ServerResponse, status: number, code: string): void {
  const text = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code} said the server</Message></Error>`;
  const headless = response.req.method === 'HEAD';
  response.writeHead(status, {
    'content-type': 'application/xml',
    'content-length': headless ? 0 : text.length,
  });
  response.end(headless ? undefined : text);
}

function listing(objects: Map<string, Kept>, query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? '';
  const after = query.get('continuation-token') ?? query.get('start-after') ?? '';
  const max = Math.min(Number(query.get('max-keys') ?? 1_000), 1_000);
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const page = keys.slice(0, max);
  const contents = page.map((key) => {
    const { body, modifiedAt } = objects.get(key) as Kept;
    const time = modifiedAt === undefined ? '' : `<LastModified>${modifiedAt.toISOString()}</LastModified>`;
    return `<Contents><Key>${key}</Key>${time}<Size>${body.length}</Size></Contents>`;
  });
  const more = keys.length > page.length;
  const next = more ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
  return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${more}</IsTruncated><KeyCount>${page.length}</KeyCount>${contents.join('')}${next}</ListBucketResult>`;
}

/** The name of the refusal, or null for the right access key, in the head or in a presigned address, but not in both. */
function authenticate(request: IncomingMessage, query: URLSearchParams, accessKeyId: string): string | null {
  const signedFor = query.get('X-Amz-Credential');
  if (signedFor !== null) {
    const whole = ['X-Amz-Date', 'X-Amz-Expires', 'X-Amz-Signature'].every((name) => query.has(name));
    if (request.headers.authorization !== undefined || request.method !== 'GET') return 'InvalidArgument';
    if (!whole || query.get('X-Amz-SignedHeaders') !== 'host') return 'AuthorizationQueryParametersError';
    return signedFor.startsWith(`${accessKeyId}/`) ? null : 'InvalidAccessKeyId';
  }
  const id = AUTHORIZATION.exec(request.headers.authorization ?? '')?.[1];
  if (id === undefined) return 'AccessDenied';
  return id === accessKeyId ? null : 'InvalidAccessKeyId';
}

function put(request: IncomingMessage, response: ServerResponse, body: Buffer): Kept | null {
  const { headers } = request;
  const checksum = headers['x-amz-checksum-sha256'] as string | undefined;
  const md5 = headers['content-md5'];
  if (
    String(headers['x-amz-content-sha256']).startsWith('STREAMING') ||
    headers['content-encoding'] !== undefined
  ) {
    refuse(response, 501, 'NotImplemented');
  } else if (headers['content-length'] !== String(body.length)) refuse(response, 411, 'MissingContentLength');
  else if (checksum === undefined && md5 === undefined) refuse(response, 400, 'InvalidRequest');
  else if (checksum !== undefined && checksum !== sha256(body, 'base64')) refuse(response, 400, 'BadDigest');
  else if (md5 !== undefined && md5 !== createHash('md5').update(body).digest('base64'))
    refuse(response, 400, 'BadDigest');
  else {
    const metadata: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) {
      if (name.startsWith('x-amz-meta-')) metadata[name.slice('x-amz-meta-'.length)] = String(value);
    }
    return { body, contentType: String(headers['content-type']), metadata, checksum, modifiedAt: new Date() };
  }
  return null;
}

/** Starts a server with one bucket on a free port of this machine. */
export async function startScriptedS3(options: ScriptedS3Options = {}): Promise<ScriptedS3> {
  const bucket = 'test-bucket';
  const accessKeyId = 'test-access-key';
  const objects = new Map<string, Kept>();
  const requests: string[] = [];
  const faults = new Map<string, ScriptedS3Fault[]>();

  const get = (
    request: IncomingMessage,
    response: ServerResponse,
    kept: Kept,
    fault: ScriptedS3Fault | undefined,
  ): void => {
    const headers: Record<string, string> = { 'content-type': kept.contentType };
    if (kept.modifiedAt !== undefined) headers['last-modified'] = kept.modifiedAt.toUTCString();
    for (const [name, value] of Object.entries(kept.metadata)) headers[`x-amz-meta-${name}`] = value;
    if (kept.checksum !== undefined && request.headers['x-amz-checksum-mode'] === 'ENABLED') {
      headers['x-amz-checksum-sha256'] = kept.checksum;
    }
    const [, first, second] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    let { body } = kept;
    if (first !== undefined) {
      if (Number(first) >= body.length) {
        refuse(response, 416, 'InvalidRange');
        return;
      }
      const total = body.length;
      body = body.subarray(Number(first), second === '' ? undefined : Number(second) + 1);
      headers['content-range'] = `bytes ${first}-${Number(first) + body.length - 1}/${total}`;
    }
    headers['content-length'] = String(body.length);
    response.writeHead(first === undefined ? 200 : 206, headers);
    if (request.method === 'HEAD') response.end();
    else if (fault === 'truncate')
      response.write(body.subarray(0, body.length >> 1), () => request.socket.destroy());
    else if (fault === 'stall') response.write(body.subarray(0, body.length >> 1));
    else response.end(body);
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '' } = request;
    const url = new URL(request.url ?? '/', 'http://s3');
    requests.push(`${method} ${url.pathname}`);
    const body = await getBody(request);
    const [, named, ...rest] = url.pathname.split('/');
    const key = decodeURIComponent(rest.join('/'));
    const userAgent = String(request.headers['user-agent'] ?? '');
    const fault = options.onRequest?.({ method, key, userAgent }) ?? faults.get(method)?.shift();
    if (fault === 'slow') await new Promise((resolve) => setTimeout(resolve, 1_000));
    if (fault === 'silence') return;
    if (fault === 'resetBefore') return void request.socket.resetAndDestroy();
    if (fault !== undefined && Object.hasOwn(REFUSALS, fault)) {
      const [status, code] = REFUSALS[fault as keyof typeof REFUSALS];
      return refuse(response, status, code);
    }
    if (fault === 'html') {
      response.writeHead(502, { 'content-type': 'text/html' });
      return void response.end('<html>Bad Gateway</html>');
    }
    const refused = authenticate(request, url.searchParams, accessKeyId);
    if (refused !== null) return refuse(response, 403, refused);
    if (named !== bucket) return refuse(response, 404, 'NoSuchBucket');
    const strange = Object.keys(request.headers).some((name) => /^x-amz-(sdk-)?checksum/.test(name));
    if (strange && options.checksums === 'unknown') return refuse(response, 501, 'NotImplemented');

    const kept = objects.get(key);
    if (method === 'PUT') {
      const { conditions = 'kept' } = options;
      const onlyNew = request.headers['if-none-match'] === '*';
      if (onlyNew && conditions === 'unknown') return refuse(response, 501, 'NotImplemented');
      if (onlyNew && conditions === 'kept' && kept !== undefined)
        return refuse(response, 412, 'PreconditionFailed');
      const made = put(request, response, body);
      if (made === null) return;
      if (fault === 'changeBody') made.body = Buffer.from(made.body).fill(0, 0, 1);
      objects.set(key, made);
      options.onWritten?.(key, made.body);
      if (fault === 'resetAfterWrite') return void request.socket.resetAndDestroy();
      const echoed = fault === 'wrongChecksum' ? sha256(Buffer.from('other'), 'base64') : made.checksum;
      const silent = fault === 'noChecksum' || echoed === undefined;
      response.writeHead(200, silent ? {} : { 'x-amz-checksum-sha256': echoed });
      return void response.end();
    }
    if (method === 'DELETE') {
      objects.delete(key);
      response.writeHead(204);
      return void response.end();
    }
    if (key === '' && url.searchParams.get('list-type') === '2') {
      response.writeHead(200, { 'content-type': 'application/xml' });
      return void response.end(listing(objects, url.searchParams));
    }
    if (kept === undefined) return refuse(response, 404, 'NoSuchKey');
    get(request, response, kept, fault);
  };

  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, options.host ?? '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bucket,
    accessKeyId,
    objects,
    requests,
    script: (method, ...list) => {
      faults.set(method, [...(faults.get(method) ?? []), ...list]);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
