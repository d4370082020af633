import type { Exchange } from './exchange.js';

/** One entity tag of a list, weak or strong (RFC 9110, 8.8.3). */
const TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/** The strong entity tag of a file: its SHA-256 in hex, in quotes. */
export function entityTag(sha256: string): string {
  return `"${sha256}"`;
}

/** Whether If-None-Match names the tag, or any by `*`: weak comparison, RFC 9110, 13.1.2. */
export function noneMatchHits(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return getTags(header).some((each) => each.replace(/^W\//, '') === tag);
}

/**
 * Sets the entity tag of an answer of `bytes` (Infinity if unknown), and sends 304 if the client has it already; true:
 * that is all of the answer.
 */
export function sentNotModified(exchange: Exchange, name: string, bytes: number): boolean {
  const coding = exchange.coding(bytes);
  const tag = `"${name}${coding === null ? '' : `-${coding}`}"`;
  exchange.header('etag', tag);
  if (!noneMatchHits(exchange.request.headers['if-none-match'], tag)) return false;
  exchange.status(304).sendNothing();
  return true;
}

/** Whether If-Match lets the request pass: strong comparison, RFC 9110, 13.1.1. */
export function matchPasses(header: string, tag: string): boolean {
  return header.trim() === '*' || getTags(header).includes(tag);
}

/** Whether Range applies under If-Range: never with a date, since no Last-Modified is sent (RFC 9110, 13.1.5). */
export function ifRangePasses(header: string | undefined, tag: string): boolean {
  return header === undefined || header.trim() === tag;
}

function getTags(header: string): readonly string[] {
  return header.match(TAG) ?? [];
}

/** Inclusive byte positions within a file. */
export interface FileRange {
  start: number;
  end: number;
}

const SINGLE_RANGE = /^bytes[ \t]*=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i;

/**
 * The part of a file of `size` bytes that a Range header selects (RFC 9110, 14.1.2). `whole` if the header is absent,
 * malformed or names several ranges (which may be answered with the whole file); or `unsatisfiable`.
 */
export function byteRange(header: string | undefined, size: number): FileRange | 'whole' | 'unsatisfiable' {
  const match = header === undefined ? null : SINGLE_RANGE.exec(header);
  if (match === null) return 'whole';
  const [, first, last, suffix] = match;
  if (suffix !== undefined) {
    const length = Number(suffix);
    return length === 0 || size === 0
      ? 'unsatisfiable'
      : { start: Math.max(0, size - length), end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' || last === undefined ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && last !== undefined && Number(last) < start) return 'whole';
  return start >= size ? 'unsatisfiable' : { start, end };
}
