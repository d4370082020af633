import type { Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import { createVerifier, type SealedLogEntry, toPublicKey } from '@packhouse/manifest';
import { isPackhouseError } from '@packhouse/runtime';
import type { AuditReport } from './audit-report.js';
import { bundleFinding } from './finding.js';

/** Entries read at a time. */
const PAGE = 1_000;

/** A signed log, as the database has it. */
interface StoredLog<E> {
  tip(): Promise<{ sequence: number } | null>;
  /** Those after a sequence, `limit` at most, in order. */
  entries(after: number, limit: number): Promise<E[]>;
}

/**
 * Checks a whole signed log as its readers do: no gap, each entry chained to the one before, and signed by a key of the
 * database; some 0.2 ms for each. `take` gets those before the first that is not, which is returned with the reason.
 */
export async function verifyLog<E extends SealedLogEntry>(
  database: Pick<Database, 'manifest'>,
  log: StoredLog<E>,
  signal: AbortSignal,
  take?: (entry: E) => void,
): Promise<{ entry: E; message: string } | null> {
  const keys = await database.manifest.keys();
  const verifier = createVerifier(new Map(keys.map((key) => [key.keyId, toPublicKey(key.publicKey)])));
  const newest = (await log.tip())?.sequence ?? -1;
  for (let after = -1; after < newest; after += PAGE) {
    signal.throwIfAborted();
    // The last entries of a page may be missing; then the next one finds the gap.
    for (const entry of await log.entries(after, PAGE)) {
      try {
        verifier.push(entry);
      } catch (error) {
        if (!isPackhouseError(error, 'MANIFEST_INVALID')) throw error;
        return { entry, message: error.message };
      }
      take?.(entry);
    }
  }
  return null;
}

/** Checks the whole signed log of a network and kind (see verifyLog). Reports the first entry that is wrong. */
export async function checkManifest(
  { database, report }: { database: Database; report: AuditReport },
  { network, kind }: { network: string; kind: Kind },
  signal: AbortSignal,
): Promise<void> {
  const { manifest } = database.network(network);
  const log = {
    tip: () => manifest.tip(kind),
    entries: (after: number, limit: number) => manifest.entries(kind, after, limit),
  };
  const wrong = await verifyLog(database, log, signal);
  if (wrong === null) return;
  const { from: firstBlock, to: lastBlock, sequence } = wrong.entry;
  const row = { network, kind, firstBlock, lastBlock, objectKey: null, version: null };
  const message = `${network} ${kind}: entry ${sequence}: ${wrong.message} Run \`packhouse adopt --network ${network}\`.`;
  report.found({ ...bundleFinding(row, { cause: 'manifest', what: '' }), message });
}
