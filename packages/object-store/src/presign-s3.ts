import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { PackhouseError } from '@packhouse/runtime';

/** The part of the SDK's request that an address is made of. */
interface BuiltRequest {
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
}

/** The SDK's signer; it finds and renews the credentials. */
interface Presigner {
  presign(request: BuiltRequest, options: { expiresIn: number }): Promise<BuiltRequest>;
}

/**
 * The address of a GET, signed in its query (Signature Version 4, "Authenticating Requests: Using Query Parameters" in
 * the reference of Amazon S3). Only the host is signed beside it, so that a client may add Range.
 *
 * The SDK builds the request, so that hosts and paths are as for every other; it is kept back before it is sent.
 */
export async function presignGet(
  client: S3Client,
  object: { bucket: string; key: string },
  seconds: number,
): Promise<string> {
  let built: BuiltRequest | undefined;
  const command = new GetObjectCommand({ Bucket: object.bucket, Key: object.key });
  command.middlewareStack.add(
    () => async (args) => {
      built = args.request as BuiltRequest;
      return { output: { $metadata: {} }, response: undefined };
    },
    { step: 'build', priority: 'low', name: 'keepRequestBack' },
  );
  await client.send(command);
  const find = client.config.signer as (() => Promise<Partial<Presigner>>) | undefined;
  const signer = await find?.();
  if (built === undefined || signer?.presign === undefined) {
    throw new PackhouseError({
      code: 'INTERNAL',
      message: 'The AWS SDK has no signer for presigned addresses.',
      hint: 'Set DOWNLOADS=stream.',
    });
  }
  const { protocol, hostname, port, path } = built;
  const host = port === undefined ? hostname : `${hostname}:${port}`;
  const bare = { ...built, query: {}, headers: { host, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } };
  const { query } = await signer.presign(bare, { expiresIn: seconds });
  return `${protocol}//${host}${path}?${new URLSearchParams(query)}`;
}
