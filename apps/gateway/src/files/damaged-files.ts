import { type DamagedFile, listDamage, raiseDamage } from '@packhouse/audit';
import type { Kind, TableName } from '@packhouse/chain';
import type { BundleRow, Database } from '@packhouse/database';
import { type Context, isPackhouseError, type PackhouseError } from '@packhouse/runtime';
import { fileDamaged } from '../http/problem.js';
import type { BoundedStore } from './bounded-store.js';

/** The part of a row, of a bundle or of a data file of the lake, that serving its object needs. */
export interface FileFacts
  extends Pick<
    BundleRow,
    'network' | 'firstBlock' | 'lastBlock' | 'version' | 'objectKey' | 'byteLength' | 'sha256'
  > {
  /** Of a data file, its table; its version is the snapshot that added it. */
  kind: TableName;
}

export type BundleFacts = FileFacts & { kind: Kind };

/** The files whose objects are known to be damaged: found here, by another gateway or by an audit. */
export type DamagedFiles = ReturnType<typeof createDamagedFiles>;

/** How often the alarms are read and what was found is written to them, in milliseconds. */
const POLL_MS = 2_000;

/** Files added to the alarm at a time; it names a thousand. */
const MAX_BATCH = 500;

/** Causes of an audit's findings that are about the bytes of an object; the others are about what the bytes say. */
const BYTE_CAUSES = new Set(['missing', 'size', 'sha256', 'gzip', 'fragmentTable']);

/** What is known of damaged files, by object. */
type Known = ReadonlyMap<string, { version: number | undefined; causes: readonly string[] }>;

/**
 * Creates the list. What is found here is in the alarm BUNDLE_DAMAGED within seconds, where the other gateways see it;
 * from then on the alarm decides: a file that an audit or an operator takes out of it is served again. A repaired file is
 * another version, so it is served at once.
 */
export function createDamagedFiles(parts: {
  context: Pick<Context, 'clock' | 'logger' | 'metrics'>;
  database: Pick<Database, 'network' | 'alarms' | 'tryLock'>;
  store: BoundedStore;
}) {
  const { context, database, store } = parts;
  const counter = context.metrics.counter(
    'packhouse_gateway_damaged_files_total',
    'Files found damaged when they were requested.',
    ['network', 'kind'],
  );
  let alarmed: Known = new Map();
  /** Found here and not yet in the alarm. */
  const fresh = new Map<string, DamagedFile>();
  /** What is known to be wrong with a file; empty: nothing. */
  const knownCauses = ({ objectKey, version }: FileFacts): readonly string[] => {
    const known = fresh.get(objectKey) ?? alarmed.get(objectKey);
    return known === undefined || (known.version ?? version) !== version ? [] : known.causes;
  };
  let working = false;
  let flushedAt = Number.NEGATIVE_INFINITY;

  /** Checks again for a missing object: a store can be wrong for a moment. If the store fails, the next poll checks. */
  const isConfirmed = async ({ key, causes }: DamagedFile): Promise<boolean> => {
    if (!causes.every((cause) => cause === 'missing')) return true;
    const isThere = await store.exists(key).catch(() => null);
    if (isThere === true) fresh.delete(key);
    return isThere === false;
  };

  /** Writes what was found here to the alarms; returns the objects that are in them now. */
  const flush = async (): Promise<string[]> => {
    const bundles: DamagedFile[] = [];
    for (const bundle of [...fresh.values()].slice(0, MAX_BATCH))
      if (await isConfirmed(bundle)) bundles.push(bundle);
    if (bundles.length > 0) flushedAt = context.clock.elapsed();
    const raised: string[] = [];
    for (const network of new Set(bundles.map((bundle) => bundle.network))) {
      const own = bundles.filter((bundle) => bundle.network === network);
      if (await raiseDamage(database, network, own)) raised.push(...own.map(({ key }) => key));
    }
    return raised;
  };

  const poll = async (): Promise<void> => {
    if (working) return;
    working = true;
    try {
      const raised = await flush();
      alarmed = indexDamage(await listDamage(database));
      for (const key of raised) fresh.delete(key);
    } catch (error) {
      // Without the database what is known stays known; it is tried again.
      if (fresh.size > 0) {
        context.logger.warn({ err: error }, 'failed to raise the alarm about damaged files');
      }
    } finally {
      working = false;
    }
  };
  const timer = setInterval(() => void poll(), POLL_MS);
  timer.unref();
  void poll();

  return {
    close: (): void => clearInterval(timer),
    /** Throws the problem `file-damaged` for a known one, and what the store throws. */
    async check(file: FileFacts): Promise<void> {
      const causes = knownCauses(file);
      if (causes.length === 0) return;
      // An object that was missing may be there again, and is checked when it is read.
      if (causes.every((cause) => cause === 'missing') && (await store.exists(file.objectKey))) return;
      throw fileDamaged();
    },
    /**
     * Notes what was wrong with an object and raises the alarm. Returns false for an error that is not about the object's
     * bytes.
     */
    report(file: FileFacts, error: unknown): error is PackhouseError {
      if (!isPackhouseError(error) || !(error.code in CAUSES)) return false;
      const cause = CAUSES[error.code as keyof typeof CAUSES];
      const { network, kind, firstBlock, lastBlock, version, objectKey: key } = file;
      const { message } = error;
      if (fresh.get(key)?.version === version || knownCauses(file).includes(cause)) return true;
      fresh.set(key, { network, kind, firstBlock, lastBlock, key, version, causes: [cause], message });
      counter.inc({ network, kind });
      context.logger.error(
        { network, kind, from: firstBlock, to: lastBlock, err: error },
        'damaged file not served',
      );
      if (context.clock.elapsed() - flushedAt >= POLL_MS) void poll();
      return true;
    },
  };
}

/** What errors say is wrong with the bytes of an object, as audits call it. */
const CAUSES = {
  OBJECT_MISSING: 'missing',
  OBJECT_MISMATCH: 'sha256',
  BUNDLE_INVALID: 'fragmentTable',
} as const;

function indexDamage(files: Awaited<ReturnType<typeof listDamage>>): Known {
  const known = new Map<string, { version: number | undefined; causes: readonly string[] }>();
  for (const { key, version, causes } of files) {
    const own = causes.filter((cause) => BYTE_CAUSES.has(cause));
    if (key !== undefined && own.length > 0) known.set(key, { version, causes: own });
  }
  return known;
}
