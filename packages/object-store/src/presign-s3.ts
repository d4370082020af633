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
  presign(request: BuiltRequest, options: { expiresIn: number; signingDate: Date }): Promise<BuiltRequest>;
}

/** What the addresses of a bucket have in common. */
interface Template {
  signer: Presigner;
  request: BuiltRequest;
  /** The address and the path of an object, as far as its key. */
  address: string;
  path: string;
}

/** Stands for a key. All keys are in a path as they are (see checkKey). */
const ANY_KEY = 'any-key';

/**
 * Creates the function that makes the address of a GET, good for `seconds` and signed in its query (Signature Version 4,
 * "Authenticating Requests: Using Query Parameters" in the reference of Amazon S3). Only the host is signed beside it, so
 * that a client may add Range.
 *
 * The SDK builds one request, so that hosts and paths are as for every other; to build one takes as long as to sign five.
 * `asked` is the client that sends requests: from their answers it knows how wrong the clock of this machine is.
 */
export function createPresigner(
  client: S3Client,
  asked: S3Client,
  bucket: string,
): (key: string, seconds: number) => Promise<string> {
  let template: Promise<Template> | undefined;
  return async (key, seconds) => {
    template ??= buildTemplate(client, bucket).catch((error: unknown) => {
      template = undefined;
      throw error;
    });
    const { signer, request, address, path } = await template;
    const signingDate = new Date(Date.now() + asked.config.systemClockOffset);
    const signed = await signer.presign(
      { ...request, path: path + key },
      { expiresIn: seconds, signingDate },
    );
    return `${address}${key}?${new URLSearchParams(signed.query)}`;
  };
}

/** Lets the SDK build a request, which is kept back before it is sent. */
async function buildTemplate(client: S3Client, bucket: string): Promise<Template> {
  let built: BuiltRequest | undefined;
  const command = new GetObjectCommand({ Bucket: bucket, Key: ANY_KEY });
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
  if (built?.path.endsWith(`/${ANY_KEY}`) !== true || signer?.presign === undefined) {
    throw new PackhouseError({
      code: 'INTERNAL',
      message: 'The AWS SDK has no signer for presigned addresses.',
      hint: 'Set DOWNLOADS=stream.',
    });
  }
  const { protocol, hostname, port } = built;
  const host = port === undefined ? hostname : `${hostname}:${port}`;
  const path = built.path.slice(0, -ANY_KEY.length);
  return {
    signer: signer as Presigner,
    request: { ...built, query: {}, headers: { host, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } },
    address: `${protocol}//${host}${path}`,
    path,
  };
}
