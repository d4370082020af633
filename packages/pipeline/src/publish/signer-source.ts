import type { Signer } from '@packhouse/manifest';
import { isPackhouseError } from '@packhouse/runtime';

/** Gives the signer of the manifest's current key. */
export interface SignerSource {
  current(): Signer;
  /** Reads the key's file again: it may have been rotated. Throws SIGNING_KEY_MISSING, SIGNING_KEY_CHANGED. */
  renew(): Promise<Signer>;
}

/** Runs `work` with the signer; once more with the renewed one where the key was rotated since it was read. */
export async function withSigner<T>(
  source: SignerSource | undefined,
  work: (signer: Signer | undefined) => Promise<T>,
): Promise<T> {
  try {
    return await work(source?.current());
  } catch (error) {
    if (source === undefined || !isPackhouseError(error, 'SIGNING_KEY_CHANGED')) throw error;
    return work(await source.renew());
  }
}
