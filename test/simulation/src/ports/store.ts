import { type ScriptedS3, type ScriptedS3Fault, startScriptedS3 } from '@packhouse/scripted-s3';

/** What the processes need to reach the store. */
const STORE_PREFIX = 'bundles';

/** The object store of the simulation. */
export interface SimulatedStore {
  /** Environment of a process that uses it; its name goes into what it calls itself. */
  env(process: string, secret: string): Record<string, string>;
  /** The object of a key of the range index; null if there is none. */
  read(objectKey: string): Buffer | null;
  /** Every body that was ever written under a key, in order. */
  written(objectKey: string): readonly Buffer[];
  close(): Promise<void>;
}

/** Starts it. `onRequest` may let a request fail; it hears which process asks ('' where that is not known). */
export async function startSimulatedStore(
  onRequest: (request: { method: string; process: string }) => ScriptedS3Fault | undefined,
): Promise<SimulatedStore> {
  const written = new Map<string, Buffer[]>();
  const server: ScriptedS3 = await startScriptedS3({
    onRequest: ({ method, userAgent }) =>
      onRequest({ method, process: /\bapp\/([\w-]+)/.exec(userAgent)?.[1] ?? '' }),
    onWritten: (key, body) => written.set(key, [...(written.get(key) ?? []), body]),
  });
  const full = (objectKey: string): string => `${STORE_PREFIX}/${objectKey}`;
  return {
    env: (process, secret) => ({
      OBJECT_STORE: `s3://${server.bucket}/${STORE_PREFIX}`,
      S3_ENDPOINT: server.endpoint,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: server.accessKeyId,
      AWS_SECRET_ACCESS_KEY: secret,
      AWS_SDK_UA_APP_ID: process,
    }),
    read: (objectKey) => server.objects.get(full(objectKey))?.body ?? null,
    written: (objectKey) => written.get(full(objectKey)) ?? [],
    close: () => server.close(),
  };
}
