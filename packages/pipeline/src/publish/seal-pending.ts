import type { Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import type { Context } from '@packhouse/runtime';
import { type SignerSource, withSigner } from './signer-source.js';

/** Entries a transaction: some 0.1 s under the kind's lock. */
const AT_ONCE = 500;

/** Appends the entries of bundles that were published without one: by an older program, or without the key. */
export async function sealPending(
  parts: { context: Context; database: Database; signers: SignerSource; network: string },
  kind: Kind,
  signal: AbortSignal,
): Promise<number> {
  const { context, database, signers, network } = parts;
  let sealed = 0;
  for (let more = -1; more !== 0; ) {
    signal.throwIfAborted();
    more = await withSigner(signers, (signer) =>
      signer === undefined
        ? Promise.resolve(0)
        : database.manifest.sealPending(network, kind, signer, AT_ONCE),
    );
    sealed += more;
  }
  if (sealed > 0) {
    context.logger.info({ network, kind, entries: sealed }, 'manifest entries of earlier bundles appended');
  }
  return sealed;
}
