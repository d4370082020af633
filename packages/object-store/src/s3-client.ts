import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { PackhouseError } from '@packhouse/runtime';

export interface S3Connection {
  /** Address of a store other than Amazon's: `http://localhost:9000`. */
  endpoint?: string | undefined;
  /** Default: what the AWS SDK finds (AWS_REGION, profiles); if there is none and an endpoint is given, us-east-1. */
  region?: string | undefined;
  /** Default: what the AWS SDK finds. */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | undefined;
  /** The bucket in the path and not in the host's name. Default: true if an endpoint is given. */
  forcePathStyle?: boolean | undefined;
  /** How often a request is tried in all, with a pause that doubles (default 5). */
  maxAttempts?: number | undefined;
  /** How long connecting may take, in milliseconds (default 5,000). */
  connectionTimeoutMs?: number | undefined;
  /** How long a connection may be silent, in milliseconds (default 30,000). */
  idleTimeoutMs?: number | undefined;
  /** Requests at once; more wait (default 64). */
  maxConnections?: number | undefined;
}

function checkEndpoint(endpoint: string): void {
  let url: URL | null = null;
  try {
    url = new URL(endpoint);
  } catch {
    // Said below.
  }
  const fits = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (fits && url?.search === '' && url.hash === '') return;
  throw new PackhouseError({
    code: 'OBJECT_STORE_INVALID',
    message:
      'The endpoint of the object store is not an http or https address without user, password and query.',
    hint: 'Write it like http://localhost:9000, and give the credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
  });
}

/** The region that the SDK finds by itself; any if it finds none and the store is not Amazon's. */
async function findRegion(): Promise<string> {
  const probe = new S3Client({});
  try {
    return await probe.config.region();
  } catch {
    return 'us-east-1';
  } finally {
    probe.destroy();
  }
}

/** Makes a client of the SDK. Throws OBJECT_STORE_INVALID for an endpoint that is no address. */
export function createS3Client(connection: S3Connection): S3Client {
  const { endpoint, region, credentials } = connection;
  if (endpoint !== undefined) checkEndpoint(endpoint);
  const idleTimeoutMs = connection.idleTimeoutMs ?? 30_000;
  const agent = { keepAlive: true, maxSockets: connection.maxConnections ?? 64 };
  const config: S3ClientConfig = {
    forcePathStyle: connection.forcePathStyle ?? endpoint !== undefined,
    maxAttempts: connection.maxAttempts ?? 5,
    retryMode: 'standard',
    // Only the SHA-256 that `put` gives: no CRC on top of it, which would make the SDK chunk the body.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: connection.connectionTimeoutMs ?? 5_000,
      socketTimeout: idleTimeoutMs,
      httpAgent: agent,
      httpsAgent: agent,
    },
  };
  if (endpoint !== undefined) {
    config.endpoint = endpoint;
    config.region = region ?? findRegion;
  } else if (region !== undefined) config.region = region;
  if (credentials !== undefined) config.credentials = credentials;
  return new S3Client(config);
}
