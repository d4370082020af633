import type { S3Checksums } from './s3-client.js';

/** The names of a refusal that may be about a header which the store does not know. */
const REFUSALS = new Set([
  'NotImplemented',
  'InvalidRequest',
  'InvalidArgument',
  'XAmzContentSHA256Mismatch',
]);

/** How requests of one kind are sent: with headers about SHA-256 checksums, or without them. */
export type ChecksumChoice = ReturnType<typeof createChecksumChoice>;

/**
 * Chooses how a store is asked. With `auto` the first request is the probe: if the store refuses it with the headers about
 * checksums and takes it without, it is asked without from then on.
 */
export function createChecksumChoice(setting: S3Checksums = 'auto') {
  let chosen: Exclude<S3Checksums, 'auto'> | undefined = setting === 'auto' ? undefined : setting;
  return {
    /** Sends a request in the chosen form; `attempt` may be called twice. Throws what it threw last. */
    async send<T>(attempt: (checksums: boolean) => Promise<T>): Promise<T> {
      if (chosen !== undefined) return attempt(chosen === 'sha256');
      try {
        const answer = await attempt(true);
        chosen ??= 'sha256';
        return answer;
      } catch (error) {
        if (!isRefusal(error)) throw error;
        const answer = await attempt(false);
        chosen = 'md5';
        return answer;
      }
    },
  };
}

/** Whether the store may not know a header of the request. */
export function isRefusal(error: unknown): boolean {
  const { name, Code, $metadata } = error as {
    name?: string;
    Code?: string;
    $metadata?: { httpStatusCode?: number };
  };
  // The refusal of a HEAD has a status only.
  return (
    $metadata?.httpStatusCode === 501 || [name, Code].some((each) => each !== undefined && REFUSALS.has(each))
  );
}
