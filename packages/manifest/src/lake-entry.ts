import { entryText, type ManifestEntry, parseEntry, type SealedEntry } from './entry.js';
import {
  type Check,
  count,
  createEntryForm,
  DATE,
  HEX_64,
  KEY_ID,
  like,
  NETWORK,
  SEAL,
  type Seal,
} from './entry-form.js';

/**
 * That a snapshot of a table of the lake adds a data file, or takes it out; the fields in the order of the canonical text.
 * The files of a snapshot are those that its entry and those before leave in the table.
 */
interface LakeEntry {
  network: string;
  chainId: number;
  /** Name of the table. */
  table: string;
  /** 0, 1, 2, … without a gap within network and table. */
  sequence: number;
  /** Of the table, from 1. */
  snapshot: number;
  change: 'add' | 'remove';
  /** Name of the file: its address and the key of its object end with it. */
  file: string;
  /** First block. */
  from: number;
  /** Last block. */
  to: number;
  /** Of the file, hex. */
  sha256: string;
  /** Of the file. */
  bytes: number;
  rows: number;
  /** Hex SHA-256 over the bundles that it was made of, and its columns. */
  sources: string;
  /** ISO 8601 in UTC with milliseconds. */
  publishedAt: string;
  /** Hash of the entry before, hex; 64 zeros in the first. */
  previous: string;
  /** First 16 hex digits of the SHA-256 of the public key. */
  keyId: string;
}

/** An entry with its hash and signature. */
export interface SealedLakeEntry extends LakeEntry, Seal {}

/** The name and version of the format: another one than that of bundles, so that no reader takes a file for a bundle. */
const LAKE_FORMAT = 'packhouse-lake-1';
const CHANGES: readonly unknown[] = ['add', 'remove'];
const isChange: Check = (value) => CHANGES.includes(value);

const FORM = createEntryForm<SealedLakeEntry>({
  format: LAKE_FORMAT,
  fields: {
    network: NETWORK,
    chainId: count,
    table: like(/^[a-z][a-z0-9_]{0,63}$/),
    sequence: count,
    snapshot: (value) => count(value) && value !== 0,
    change: isChange,
    file: like(/^[a-z0-9][a-z0-9._-]{0,127}$/),
    from: count,
    to: count,
    sha256: like(HEX_64),
    bytes: count,
    rows: count,
    sources: like(HEX_64),
    publishedAt: DATE,
    previous: like(HEX_64),
    keyId: KEY_ID,
    ...SEAL,
  },
});

/** The canonical text of an entry, as `entryText`. */
const lakeEntryText = FORM.toText;

/** The line of a sealed entry, as `entryLine`. */
export const lakeEntryLine = FORM.toLine;

/** Parses the line of an entry, as `parseEntry`. Throws MANIFEST_INVALID. */
const parseLakeEntry = FORM.parse;

/** Whether a line is of the log of a table, by its first bytes. */
function isLakeLine(line: string): boolean {
  return line.startsWith(`{"format":"${LAKE_FORMAT}"`);
}

/** An entry of any signed log. */
export type LogEntry = ManifestEntry | LakeEntry;
export type SealedLogEntry = SealedEntry | SealedLakeEntry;

/** What hash and signature are of. */
export function logEntryText(entry: LogEntry): string {
  return 'table' in entry ? lakeEntryText(entry) : entryText(entry);
}

/** Which of the logs of its network an entry is of: a kind, or `table` with its name. */
export function logOf(entry: LogEntry): string {
  return 'table' in entry ? `table ${entry.table}` : entry.kind;
}

/** Parses the line of an entry of any log, as `parseEntry`. Throws MANIFEST_INVALID. */
export function parseLogEntry(line: string, where: string): SealedLogEntry {
  return isLakeLine(line) ? parseLakeEntry(line, where) : parseEntry(line, where);
}
