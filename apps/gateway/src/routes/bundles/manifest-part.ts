import type { BlockRange, Kind } from '@packhouse/chain';
import type { NetworkDatabase } from '@packhouse/database';
import { entryLine, type SealedEntry } from '@packhouse/manifest';
import { Problem } from '../../http/problem.js';

/** Entries read from the database at a time. */
const PAGE = 500;
/** Seconds until a damaged log may be whole again. */
const RETRY_AFTER_S = 60;

/** The entries of one answer, in the order of the log. */
interface ManifestPart {
  /** How many. */
  entries: number;
  /** Hash of the last entry, which identifies all before it, because entries are chained by hash; absent: there is none. */
  hash: string | undefined;
  /** Everything up to this sequence is in this answer or before it. */
  last: number;
  /** It has as many entries as were requested, and will never have others. */
  full: boolean;
  /** There are more behind it. */
  more: boolean;
  /** The lines of a page are read when those before are consumed. */
  lines(): AsyncGenerator<string>;
}

type Manifest = NetworkDatabase['manifest'];

interface PartRequest {
  log: ManifestLog;
  /** Entries behind this sequence. */
  after: number;
  limit: number;
  newest: { sequence: number; hash: string | undefined };
}

/** The next entries of the whole log. */
export async function wholePart(manifest: Manifest, request: PartRequest): Promise<ManifestPart> {
  const { log, after, limit, newest } = request;
  const last = Math.min(after + limit, newest.sequence);
  const [entry] = last === newest.sequence ? [newest] : await manifest.entries(log.kind, last - 1, 1);
  return {
    entries: last - after,
    hash: entry?.hash,
    last,
    full: last - after === limit,
    more: last < newest.sequence,
    async *lines() {
      for (let at = after; at < last; ) {
        const count = Math.min(PAGE, last - at);
        yield toText(await manifest.entries(log.kind, at, count), count, log);
        at += count;
      }
    },
  };
}

/** The next entries that touch a range. */
export async function rangePart(
  manifest: Manifest,
  request: PartRequest,
  range: BlockRange,
): Promise<ManifestPart> {
  const { log, after, limit, newest } = request;
  const within = { after, last: newest.sequence, limit: limit + 1 };
  const found = await manifest.touching(log.kind, range, within);
  const sequences = found.slice(0, limit);
  const full = sequences.length === limit;
  const [last] = await manifest.entriesAt(log.kind, sequences.slice(-1));
  return {
    entries: sequences.length,
    hash: last?.hash,
    last: last === undefined || !full ? newest.sequence : last.sequence,
    full,
    more: found.length > limit,
    async *lines() {
      for (let at = 0; at < sequences.length; at += PAGE) {
        const some = sequences.slice(at, at + PAGE);
        yield toText(await manifest.entriesAt(log.kind, some), some.length, log);
      }
    },
  };
}

/**
 * Throws the problem `manifest-damaged` if entries are missing: after the first page this breaks the connection, so that
 * the client does not take it for the end.
 */
function toText(entries: readonly SealedEntry[], count: number, { network, kind }: ManifestLog): string {
  if (entries.length !== count) {
    throw new Problem('manifest-damaged', {
      detail: `The manifest of ${kind} of ${network} lacks ${count - entries.length} of the next ${count} entries; its operator runs packhouse adopt.`,
      retryAfter: RETRY_AFTER_S,
    });
  }
  return entries.map((entry) => `${entryLine(entry)}\n`).join('');
}

/** The manifest that a cursor belongs to. */
export interface ManifestLog {
  network: string;
  kind: Kind;
}

/** The cursor after an entry: `<network>:<kind>:<sequence>`; -1 is before the first. */
export function manifestCursor({ network, kind }: ManifestLog, sequence: number): string {
  return `${network}:${kind}:${sequence}`;
}

/**
 * The sequence after which to continue, from a number or a cursor of this manifest; absent: before the first. Throws
 * the problem `cursor-invalid`.
 */
export function sequenceOfCursor(text: string | undefined, log: ManifestLog): number {
  if (text === undefined) return -1;
  const [, network, kind, digits] = /^(?:([a-z0-9-]{1,64}):([a-z]{1,16}):)?(-1|\d{1,10})$/.exec(text) ?? [];
  if (digits === undefined) {
    throw new Problem('cursor-invalid', {
      detail:
        'after must be the sequence number of an entry, or the cursor from the header packhouse-manifest-next of an earlier answer.',
    });
  }
  if (network !== undefined && (network !== log.network || kind !== log.kind)) {
    throw new Problem('cursor-invalid', {
      detail: `This cursor belongs to the manifest of ${kind} of ${network}, not of ${log.kind} of ${log.network}.`,
      members: { network: log.network, kind: log.kind },
    });
  }
  return Number(digits);
}
