import { createHash, createHmac } from 'node:crypto';

/** Who may make buckets where. */
interface S3Owner {
  endpoint: string;
  accessKeyId: string;
  secretAccessKey: string;
}

const REGION = 'us-east-1';

/** How long the objects of a locked bucket may not be deleted, as S3 takes it. */
const RETENTION =
  '<ObjectLockConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>1</Days></DefaultRetention></Rule></ObjectLockConfiguration>';

/** Makes a bucket; a locked one keeps every version of its objects for a day. Throws if the server refuses. */
export async function makeBucket(owner: S3Owner, bucket: string, locked = false): Promise<void> {
  await put(owner, `/${bucket}`, '', '', locked ? { 'x-amz-bucket-object-lock-enabled': 'true' } : {});
  if (locked) await put(owner, `/${bucket}`, 'object-lock', RETENTION, {});
}

/** Sends a PUT that is signed as Signature Version 4 says ("Authenticating Requests" in the reference of Amazon S3). */
async function put(
  { endpoint, accessKeyId, secretAccessKey }: S3Owner,
  path: string,
  query: string,
  body: string,
  more: Record<string, string>,
): Promise<void> {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const headers: Record<string, string> = {
    'content-md5': createHash('md5').update(body).digest('base64'),
    host: new URL(endpoint).host,
    ...more,
    'x-amz-content-sha256': sha256(body),
    'x-amz-date': time,
  };
  const names = Object.keys(headers).sort();
  const lines = names.map((name) => `${name}:${headers[name]}\n`).join('');
  const signed = names.join(';');
  const parameters = query === '' ? '' : `${query}=`;
  const request = ['PUT', path, parameters, lines, signed, sha256(body)].join('\n');
  const scope = `${time.slice(0, 8)}/${REGION}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(request)].join('\n');
  const key = scope
    .split('/')
    .reduce<string | Buffer>(
      (from, part) => createHmac('sha256', from).update(part).digest(),
      `AWS4${secretAccessKey}`,
    );
  const signature = createHmac('sha256', key).update(text).digest('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`;
  const { host: _, ...sent } = headers;
  const response = await fetch(`${endpoint}${path}${query === '' ? '' : `?${query}`}`, {
    method: 'PUT',
    headers: { ...sent, authorization },
    body: body === '' ? undefined : body,
  });
  if (!response.ok) throw new Error(`PUT ${path}?${query}: ${response.status} ${await response.text()}`);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
