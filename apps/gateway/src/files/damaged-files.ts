import type { BundleRow, Database } from '@packhouse/database';
import { type DamagedBundle, listDamage, raiseDamage } from '@packhouse/pipeline';
import { type Context, isPackhouseError, type PackhouseError } from '@packhouse/runtime';
import { fileDamaged } from '../http/problem.js';
import type { BoundedStore } from './bounded-store.js';

/** The part of a bundle's row that serving it needs. */
export type PublishedFacts = Pick<
  BundleRow,
  'network' | 'kind' | 'start' | 'end' | 'version' | 'objectKey' | 'byteLength' | 'sha256'
>;

/** The files whose objects are known to be damaged: found here, by another gateway or by an audit. */
export interface DamagedFiles {
  /** Throws the problem `file-damaged` for a known one, and what the store throws. */
  check(file: PublishedFacts): Promise<void>;
  /**
   * Notes what was wrong with an object and raises the alarm. Returns false for an error that is not about the object's
   * bytes.
   */
  found(file: PublishedFacts, error: unknown): error is PackhouseError;
  close(): void;
}

/** How often the alarms are read and what was found is written to them, in milliseconds. */
const LOOK_MS = 2_000;

/** Files added to the alarm at a time; it names a thousand. */
const AT_ONCE = 500;

/** Causes of an audit's findings that are about the bytes of an object; the others are about what the bytes say. */
const OF_BYTES = new Set(['missing', 'size', 'sha256', 'gzip', 'fragmentTable']);

/** Causes of damaged files by object. */
type Known = ReadonlyMap<string, readonly string[]>;

/**
 * Creates the list. What is found here is in the alarm BUNDLE_DAMAGED within seconds, where the other gateways see it;
 * from then on the alarm decides: a bundle that an audit or an operator takes out of it is served again. A repaired
 * bundle is another object, so it is served at once.
 */
export function createDamagedFiles(parts: {
  context: Pick<Context, 'clock' | 'logger' | 'metrics'>;
  database: Pick<Database, 'network' | 'alarms' | 'tryLock'>;
  store: BoundedStore;
}): DamagedFiles {
  const { context, database, store } = parts;
  const counter = context.metrics.counter(
    'packhouse_gateway_damaged_files_total',
    'Files that were found damaged when they were asked for',
    ['network', 'kind'],
  );
  let alarmed: Known = new Map();
  /** Found here and not yet in the alarm. */
  const fresh = new Map<string, DamagedBundle>();
  let working = false;
  let flushedAt = Number.NEGATIVE_INFINITY;

  /** Looks again for an object that was missing: a store can be wrong for a moment. If the store fails, the next look tells. */
  const isSure = async ({ key, causes }: DamagedBundle): Promise<boolean> => {
    if (!causes.every((cause) => cause === 'missing')) return true;
    const isThere = await store.exists(key).catch(() => null);
    if (isThere === true) fresh.delete(key);
    return isThere === false;
  };

  /** Writes what was found here to the alarms; returns the objects that are in them now. */
  const flush = async (): Promise<string[]> => {
    const bundles: DamagedBundle[] = [];
    for (const bundle of [...fresh.values()].slice(0, AT_ONCE))
      if (await isSure(bundle)) bundles.push(bundle);
    if (bundles.length > 0) flushedAt = context.clock.elapsed();
    const told: string[] = [];
    for (const network of new Set(bundles.map((bundle) => bundle.network))) {
      const own = bundles.filter((bundle) => bundle.network === network);
      if (await raiseDamage(database, network, own)) told.push(...own.map(({ key }) => key));
    }
    return told;
  };

  const look = async (): Promise<void> => {
    if (working) return;
    working = true;
    try {
      const told = await flush();
      alarmed = knownOf(await listDamage(database));
      for (const key of told) fresh.delete(key);
    } catch (error) {
      // Without the database what is known stays known; it is tried again.
      if (fresh.size > 0) {
        context.logger.warn({ err: error }, 'the alarm about damaged files could not be raised');
      }
    } finally {
      working = false;
    }
  };
  const timer = setInterval(() => void look(), LOOK_MS);
  timer.unref();
  void look();

  return {
    close: () => clearInterval(timer),
    async check({ objectKey }) {
      const causes = fresh.get(objectKey)?.causes ?? alarmed.get(objectKey);
      if (causes === undefined) return;
      // An object that was missing may be there again, and is checked when it is read.
      if (causes.every((cause) => cause === 'missing') && (await store.exists(objectKey))) return;
      throw fileDamaged();
    },
    found(file, error): error is PackhouseError {
      const cause = causeOf(error);
      if (cause === null) return false;
      const { network, kind, start, end, version, objectKey: key } = file;
      const { message } = error as PackhouseError;
      if (fresh.has(key) || alarmed.get(key)?.includes(cause) === true) return true;
      fresh.set(key, { network, kind, start, end, key, version, causes: [cause], message });
      counter.inc({ network, kind });
      context.logger.error({ network, kind, start, end, err: error }, 'a damaged file was not served');
      if (context.clock.elapsed() - flushedAt >= LOOK_MS) void look();
      return true;
    },
  };
}

/** What is wrong with the bytes of an object, as audits call it; null if the error is about something else. */
function causeOf(error: unknown): 'missing' | 'sha256' | 'fragmentTable' | null {
  if (isPackhouseError(error, 'OBJECT_MISSING')) return 'missing';
  if (isPackhouseError(error, 'OBJECT_MISMATCH')) return 'sha256';
  return isPackhouseError(error, 'BUNDLE_INVALID') ? 'fragmentTable' : null;
}

function knownOf(bundles: Awaited<ReturnType<typeof listDamage>>): Known {
  const known = new Map<string, readonly string[]>();
  for (const { key, causes } of bundles) {
    const own = causes.filter((cause) => OF_BYTES.has(cause));
    if (key !== undefined && own.length > 0) known.set(key, own);
  }
  return known;
}
