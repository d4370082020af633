import { endOfValue, hasName, JsonValidator, readMember, skipSpace } from '@packhouse/json';
import { createJsonScanner } from '@packhouse/kernels';
import { findPlace, isWithoutId } from '../../upstream/request-ids.js';
import { Utf8Check } from '../../upstream/utf8-check.js';
import type { ForwardRequest, ResultBody } from './forward-request.js';

/** An answer as it was read: its value is JSON, and not judged yet. */
export type ReadAnswer = { kind: 'result'; body: ResultBody } | { kind: 'error'; error: Buffer } | NoAnswer;

/** Why there is no answer that could be handed on; `foreign`: it is not the answer to this request. */
export type NoAnswer = { kind: 'nonsense'; what: string; foreign?: true } | { kind: 'too-large' };

/** An answer that may be that to another request: its connection cannot be trusted any more. */
export const FOREIGN: NoAnswer = { kind: 'nonsense', what: 'an answer with another id', foreign: true };

/** The value is looked for in this many bytes, then in twice as many, … */
const HEAD_BYTES = 4_096;
/** Length of all that may precede it. */
const MAX_HEAD_BYTES = 65_536;
/** Length of all that may follow it. */
const BEHIND_BYTES = 4_096;
/** Values up to this size are joined: pieces of their own cost more than the copy. */
const JOINED_BYTES = 65_536;

const [COMMA, OPEN_BRACE, OPEN_BRACKET] = [0x2c, 0x7b, 0x5b];
type Scanner = NonNullable<ReturnType<typeof createJsonScanner>> | JsonValidator;

/**
 * Reads the answer to the request with this id as it comes; null: the caller checks the id. Its value is checked to be one
 * value of JSON in UTF-8, so that no answer of a node can hold a second one in another envelope, and whoever reads what
 * leaves can parse it.
 */
export class AnswerReader {
  readonly #options: Pick<ForwardRequest, 'maxBytes'>;
  readonly #ownId: number | null;
  readonly #text = new Utf8Check();
  #scanner: Scanner | undefined;
  #begin: Buffer[] = [];
  #beginBytes = 0;
  #findAt = HEAD_BYTES;
  #found: ValueStart | null = null;
  #pieces: Buffer[] = [];
  #behind = '';
  /** Bytes of the value so far. */
  valueBytes = 0;
  /** JSON text of the answer's id; absent until its end, or if it has none. */
  id: string | undefined;

  constructor(options: Pick<ForwardRequest, 'maxBytes'>, ownId: number | null) {
    this.#options = options;
    this.#ownId = ownId;
  }

  /** Absent until it is known. */
  get kind(): 'result' | 'error' | undefined {
    return this.#found?.kind;
  }

  /** Takes the next bytes. Returns why the rest is not needed, if it is not. */
  push(chunk: Buffer): NoAnswer | null {
    if (this.#found !== null) return this.#scan(chunk, 0);
    this.#begin.push(chunk);
    this.#beginBytes += chunk.length;
    return this.#beginBytes < this.#findAt ? null : this.#find(false);
  }

  /** The pieces of the value that came since this was called last. */
  take(): readonly Buffer[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  /** Says that all bytes have come. Returns what is wrong with them; the value can be taken if nothing is. */
  end(): NoAnswer | null {
    const fault = this.#found === null ? this.#find(true) : null;
    if (fault !== null) return fault;
    if (this.#scanner?.ended !== true) return nonsense('an answer that breaks off');
    const members = membersBehind(this.#behind);
    if (members === null) return nonsense('an answer that does not end behind its value');
    const found = this.#found as ValueStart;
    if (members.result != null || ('result' in members && found.kind === 'result')) {
      return nonsense('an answer with two values');
    }
    const two = members.error == null ? null : this.#replaceNull(members.error);
    if (two !== null) return two;
    const behind = members.id === undefined ? undefined : JSON.stringify(members.id);
    if (found.id !== undefined && behind !== undefined && found.id !== behind) return FOREIGN;
    this.id = found.id ?? behind;
    return this.#isOwn(this.id, this.kind === 'error') ? null : FOREIGN;
  }

  #isOwn(id: string | undefined, mayLackId: boolean): boolean {
    if (this.#ownId === null || (mayLackId && isWithoutId(id))) return true;
    return findPlace(id, this.#ownId, 1) !== undefined;
  }

  /** All of a complete answer: pieces if it is large, since a copy of megabytes costs more than all other work. */
  whole(): ReadAnswer {
    const pieces = this.take();
    const [first = Buffer.alloc(0)] = pieces;
    if (this.kind === 'error') return { kind: 'error', error: Buffer.concat(pieces) };
    if (pieces.length === 1) return { kind: 'result', body: { bytes: first, rest: null } };
    const body =
      this.valueBytes > JOINED_BYTES
        ? new PiecedBody(pieces)
        : { bytes: Buffer.concat(pieces, this.valueBytes), rest: null };
    return { kind: 'result', body };
  }

  /** `ended`: no more bytes will come. */
  #find(ended: boolean): NoAnswer | null {
    const [only] = this.#begin;
    const begin = this.#begin.length === 1 ? (only as Buffer) : Buffer.concat(this.#begin);
    const found = findValue(begin);
    if (found === 'more' && !ended && begin.length < MAX_HEAD_BYTES) {
      this.#begin = [begin];
      this.#findAt = 2 * begin.length;
      return null;
    }
    this.#begin = [];
    if (typeof found === 'string' || found.start > MAX_HEAD_BYTES) {
      return nonsense('something that is not JSON-RPC');
    }
    if (found.other) return nonsense('an answer with two values');
    // It may stand behind the value, or be left out of an error.
    if (!this.#isOwn(found.id, true)) return FOREIGN;
    this.#found = found;
    const { start } = found;
    const opens = begin[start] === OPEN_BRACE || begin[start] === OPEN_BRACKET;
    // The faster one where this Node can, and where there may be much to check.
    this.#scanner = (opens ? createJsonScanner() : null) ?? new JsonValidator();
    return this.#scan(begin, start);
  }

  #scan(chunk: Buffer, from: number): NoAnswer | null {
    const scanner = this.#scanner as Scanner;
    let end = from;
    if (!scanner.ended) {
      end = scanner.scan(chunk, from);
      if (end === -1) return nonsense('an answer that is not JSON');
      const piece = from === 0 && end === chunk.length ? chunk : chunk.subarray(from, end);
      if (!this.#text.push(piece)) return nonsense('an answer that is not UTF-8');
      this.#pieces.push(piece);
      this.valueBytes += piece.length;
      if (this.valueBytes > this.#options.maxBytes) return { kind: 'too-large' };
    }
    if (end < chunk.length) {
      if (this.#behind.length + chunk.length - end > BEHIND_BYTES) {
        return nonsense('an answer that does not end behind its value');
      }
      this.#behind += chunk.toString('latin1', end);
    }
    return null;
  }

  /** JSON-RPC 1.0 has both members: `"result":null,"error":{…}`. */
  #replaceNull(error: unknown): NoAnswer | null {
    const found = this.#found as ValueStart;
    const isNull = this.valueBytes === 4 && Buffer.concat(this.#pieces).toString('latin1') === 'null';
    if (found.kind !== 'result' || !isNull) return nonsense('an answer with two values');
    this.#found = { ...found, kind: 'error' };
    this.#pieces = [Buffer.from(JSON.stringify(error))];
    return null;
  }
}

function nonsense(what: string): NoAnswer {
  return { kind: 'nonsense', what };
}

class PiecedBody implements ResultBody {
  readonly rest = null;
  readonly pieces: readonly Buffer[];
  #bytes: Buffer | undefined;

  constructor(pieces: readonly Buffer[]) {
    this.pieces = pieces;
  }

  get bytes(): Buffer {
    this.#bytes ??= Buffer.concat(this.pieces);
    return this.#bytes;
  }
}

/** Where the value of an answer begins. */
interface ValueStart {
  kind: 'result' | 'error';
  /** Offset of its first byte. */
  start: number;
  /** JSON text of the answer's id, if that stands before the value. */
  id: string | undefined;
  /** An error that is no object stands before the value. */
  other: boolean;
}

/**
 * Finds `result` or `error` in the beginning of an answer (JSON-RPC 2.0, section 5) without parsing the value. Members of
 * any form may stand before it. `more`: it does not begin in these bytes; `none`: it is no answer.
 */
function findValue(bytes: Buffer): ValueStart | 'more' | 'none' {
  let id: string | undefined;
  let other = false;
  let skipped = false;
  let at = skipSpace(bytes, 0);
  if (at === bytes.length) return 'more';
  if (bytes[at] !== OPEN_BRACE) return 'none';
  for (;;) {
    const member = readMember(bytes, skipSpace(bytes, at + 1));
    if (member === null || member.valueStart >= bytes.length) return 'more';
    const { valueStart: start } = member;
    const first = bytes[start];
    const isResult = hasName(bytes, member, 'result');
    const isError = hasName(bytes, member, 'error');
    if (isResult || (isError && first === OPEN_BRACE)) {
      // What is skipped over by its brackets alone may be anything.
      if (skipped && !isJson(`${bytes.toString('latin1', 0, start)}0}`)) return 'none';
      return { kind: isResult ? 'result' : 'error', start, id, other };
    }
    const end = endOfValue(bytes, start);
    if (end === -1) return 'more';
    if (hasName(bytes, member, 'id')) id = bytes.toString('latin1', start, end);
    if (isError) other ||= bytes.toString('latin1', start, end) !== 'null';
    skipped ||= first === OPEN_BRACE || first === OPEN_BRACKET;
    at = skipSpace(bytes, end);
    if (at === bytes.length) return 'more';
    if (bytes[at] !== COMMA) return 'none';
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The members that follow the value, to the end of the answer; null if it does not end as one object. */
function membersBehind(behind: string): Readonly<Record<string, unknown>> | null {
  if (behind === '}') return {};
  try {
    const { value: _, ...members } = JSON.parse(`{"value":0${behind}`) as Record<string, unknown>;
    return members;
  } catch {
    return null;
  }
}
