import { createHash, type KeyObject, verify } from 'node:crypto';
import { NO_ENTRY } from './entry.js';
import { manifestInvalid } from './entry-form.js';
import { logEntryText, logOf, type SealedLogEntry } from './lake-entry.js';

/** The checked part of a log. */
export interface CheckedLog {
  network: string;
  /** A kind, or `table` with the name of a table of the lake. */
  kind: string;
  chainId: number;
  entries: number;
  /** Hash of the last entry. */
  hash: string;
  /** The keys that signed it, in the order of their first entries. */
  keyIds: readonly string[];
}

/** Checks entries in order; those of several networks and kinds may be mixed. */
interface Verifier {
  /** Throws MANIFEST_INVALID if the entry is not the next one of its log, was changed, or is not signed. */
  push(entry: SealedLogEntry): void;
  /** The logs seen, in the order of their first entries. */
  logs(): CheckedLog[];
}

/**
 * Creates a verifier that trusts these public keys, by their ids. `begun` are logs whose beginnings were checked before:
 * it goes on behind them. With `part`, entries may be missing between others: each is checked by itself, that they
 * ascend, and that neighbours are chained. Whether a missing one belongs to the part is not checked, since only the
 * whole log tells; `entries` counts up to the last one then.
 */
export function createVerifier(
  keys: ReadonlyMap<string, KeyObject>,
  { begun = [], part = false }: { begun?: readonly CheckedLog[]; part?: boolean } = {},
): Verifier {
  const logs = new Map(begun.map((log) => [`${log.kind} of ${log.network}`, log]));
  return {
    push(entry) {
      const { network, chainId, sequence, hash } = entry;
      const kind = logOf(entry);
      const name = `${kind} of ${network}`;
      const log = logs.get(name) ?? { network, kind, chainId, entries: 0, hash: NO_ENTRY, keyIds: [] };
      checkPlace(entry, log, name, part);
      checkSeal(entry, keys);
      const keyIds = log.keyIds.includes(entry.keyId) ? log.keyIds : [...log.keyIds, entry.keyId];
      logs.set(name, { ...log, entries: sequence + 1, hash, keyIds });
    },
    logs: () => [...logs.values()],
  };
}

/** Checks that a log counts from 0, but for a part without a gap, and that each entry names the one before. */
function checkPlace(entry: SealedLogEntry, log: CheckedLog, name: string, part: boolean): void {
  const { sequence, previous, chainId } = entry;
  const data = { network: log.network, kind: log.kind, sequence, expected: log.entries };
  if (chainId !== log.chainId) {
    throw manifestInvalid(
      `Entry ${sequence} of the manifest of ${name} is of chain ${chainId}, the entries before are of chain ${log.chainId}.`,
      data,
    );
  }
  if (sequence > log.entries) {
    if (part) return;
    const missing =
      log.entries === sequence - 1
        ? `entry ${log.entries} is`
        : `entries ${log.entries} to ${sequence - 1} are`;
    throw manifestInvalid(
      `The manifest of ${name} has a gap: ${missing} missing before entry ${sequence}.`,
      data,
      'Download it from the first entry on, page after page.',
    );
  }
  if (sequence < log.entries) {
    throw manifestInvalid(
      `The manifest of ${name} is out of order: entry ${sequence} comes after entry ${log.entries - 1}.`,
      data,
    );
  }
  if (previous === log.hash) return;
  const expected =
    sequence === 0 ? 'an entry before the first' : `another entry ${sequence - 1} than the one before it`;
  throw manifestInvalid(`The manifest of ${name} is forked at entry ${sequence}: it follows ${expected}.`, {
    ...data,
    previous,
    hash: log.hash,
  });
}

/** Checks hash and signature of one entry, and not its place in the log. Throws MANIFEST_INVALID. */
export function checkSeal(entry: SealedLogEntry, keys: ReadonlyMap<string, KeyObject>): void {
  const { sequence, keyId } = entry;
  const kind = logOf(entry);
  const name = `${kind} of ${entry.network}`;
  const data = { network: entry.network, kind, sequence, keyId };
  const text = Buffer.from(logEntryText(entry));
  if (createHash('sha256').update(text).digest('hex') !== entry.hash) {
    throw manifestInvalid(
      `Entry ${sequence} of the manifest of ${name} was changed: it does not have the hash it says.`,
      data,
    );
  }
  const key = keys.get(keyId);
  if (key === undefined) {
    throw manifestInvalid(
      `Entry ${sequence} of the manifest of ${name} is signed with key ${keyId}, which is not among the keys given (${[...keys.keys()].join(', ') || 'none'}).`,
      data,
      'Get the current keys from /.well-known/packhouse-manifest-keys.json of the publisher; a key that is not there is a forgery.',
    );
  }
  if (verify(null, text, key, Buffer.from(entry.signature, 'base64'))) return;
  throw manifestInvalid(
    `Entry ${sequence} of the manifest of ${name} is a forgery: its signature is not that of key ${keyId}.`,
    data,
  );
}
