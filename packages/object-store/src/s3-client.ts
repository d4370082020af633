import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { PackhouseError } from '@packhouse/runtime';

/** How a put is checked by the store: by SHA-256, by Content-MD5 as before 2022, or as the store takes it. */
export type S3Checksums = 'auto' | 'sha256' | 'md5';

export interface S3Connection {
  /** Address of a store other than Amazon's: `http://localhost:9000`. */
  endpoint?: string | undefined;
  /** The address at which others reach the store, for presigned addresses; default: `endpoint`. */
  publicEndpoint?: string | undefined;
  /** Default: the region that the AWS SDK finds (AWS_REGION, profiles); if none and an endpoint is given, us-east-1. */
  region?: string | undefined;
  /** Default: those that the AWS SDK finds. */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | undefined;
  /** Put the bucket into the path and not the host name. Default: true if an endpoint is given. */
  forcePathStyle?: boolean | undefined;
  /** Default: `auto`. */
  checksums?: S3Checksums | undefined;
  /** Most tries of a request, with a pause that doubles (default 5). */
  maxAttempts?: number | undefined;
  /** Time limit of connecting, in milliseconds (default 5,000). */
  connectionTimeoutMs?: number | undefined;
  /** Time limit without data on a connection, in milliseconds (default 30,000). */
  idleTimeoutMs?: number | undefined;
  /** Most concurrent requests; more wait (default 64). */
  maxConnections?: number | undefined;
}

function checkEndpoint(endpoint: string): void {
  let url: URL | null = null;
  try {
    url = new URL(endpoint);
  } catch {
    // Reported below.
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

/** The region that the SDK finds, or any if it finds none and the store is not Amazon's. */
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

/** Creates a client of the SDK. Throws OBJECT_STORE_INVALID if the endpoint is not an address. */
export function createS3Client(connection: S3Connection): S3Client {
  const { endpoint, region, credentials } = connection;
  if (endpoint !== undefined) checkEndpoint(endpoint);
  const idleTimeoutMs = connection.idleTimeoutMs ?? 30_000;
  const agent = { keepAlive: true, maxSockets: connection.maxConnections ?? 64 };
  const config: S3ClientConfig = {
    forcePathStyle: connection.forcePathStyle ?? endpoint !== undefined,
    maxAttempts: connection.maxAttempts ?? 5,
    retryMode: 'standard',
    // Only what `put` sends itself, without a CRC, which many stores refuse.
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
    // The SDK asks for it with each request.
    let found: Promise<string> | undefined;
    config.region =
      region ??
      (() => {
        found ??= findRegion();
        return found;
      });
  } else if (region !== undefined) config.region = region;
  if (credentials !== undefined) config.credentials = credentials;
  return new S3Client(config);
}
