import { entryText, type ManifestEntry, parseEntry, type SealedEntry } from './entry.js';
import {
  isLakeLine,
  type LakeEntry,
  lakeEntryText,
  parseLakeEntry,
  type SealedLakeEntry,
} from './lake-entry.js';

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
