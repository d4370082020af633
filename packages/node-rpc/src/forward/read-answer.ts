import { Utf8Check } from '../upstream/utf8-check.js';
import { createBracketScanner } from './bracket-scanner.js';
import type { ResultBody } from './forwarder.js';
import { findValue, membersBehind, type ValueStart } from './split-envelope.js';
import { ValueScanner } from './value-scanner.js';

/** An answer as it was read: its value is JSON, and not judged yet. */
export type ReadAnswer = { kind: 'result'; body: ResultBody } | { kind: 'error'; error: Buffer } | NoAnswer;

/** Why there is no answer that could be handed on. */
export type NoAnswer = { kind: 'nonsense'; what: string } | { kind: 'too-large' };

/** Length of all that may precede a value. */
const HEAD_BYTES = 4_096;
/** Length of all that may follow it. */
const BEHIND_BYTES = 4_096;
/** Values up to this size are joined. */
export const JOINED_BYTES = 262_144;

const [OPEN_BRACE, OPEN_BRACKET] = [0x7b, 0x5b];
/** JSON text of the id that every request has. */
const IDS: ReadonlySet<unknown> = new Set(['1', '"1"']);

type Scanner = NonNullable<ReturnType<typeof createBracketScanner>> | ValueScanner;

/** How far the value is checked. */
interface ReadOptions {
  /** Bytes of the value. */
  maxBytes: number;
  /** Of a list or an object only brackets and strings, where this Node can: see BracketScanner. */
  passedOn: boolean;
}

/**
 * Reads an answer as it comes. Its value is checked to be one whole value in UTF-8, so that no answer of a node can hold a
 * second one in another envelope, and unless it is passed on to be JSON.
 */
export class AnswerReader {
  readonly #options: ReadOptions;
  readonly #text = new Utf8Check();
  #scanner: Scanner | undefined;
  #begin: Buffer | undefined;
  #found: ValueStart | null = null;
  #pieces: Buffer[] = [];
  #behind = '';
  /** Bytes of the value so far. */
  valueBytes = 0;

  constructor(options: ReadOptions) {
    this.#options = options;
  }

  /** Absent until it is known. */
  get kind(): 'result' | 'error' | undefined {
    return this.#found?.kind;
  }

  /** Takes the next bytes. Returns why the rest is not needed, if it is not. */
  push(chunk: Buffer): NoAnswer | null {
    if (this.#found !== null) return this.#scan(chunk, 0);
    const begin = this.#begin === undefined ? chunk : Buffer.concat([this.#begin, chunk]);
    this.#begin = begin;
    return begin.length < HEAD_BYTES ? null : this.#find(begin);
  }

  /** The pieces of the value that came since this was called last. */
  take(): readonly Buffer[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  /** Says that all bytes have come. Returns what is wrong with them; the value can be taken if nothing is. */
  end(): NoAnswer | null {
    const fault = this.#found === null ? this.#find(this.#begin ?? Buffer.alloc(0)) : null;
    if (fault !== null) return fault;
    if (this.#scanner?.ended !== true) return nonsense('an answer that breaks off');
    const members = membersBehind(this.#behind);
    if (members === null) return nonsense('an answer that does not end behind its value');
    const found = this.#found as ValueStart;
    const id = found.id ?? (members.id === undefined ? undefined : JSON.stringify(members.id));
    const isOurs = id === undefined || IDS.has(id) || (found.kind === 'error' && id === 'null');
    if (!isOurs) return nonsense('an answer with another id');
    if (members.result != null || ('result' in members && found.kind === 'result')) {
      return nonsense('an answer with two values');
    }
    return members.error == null ? null : this.#replaceNull(members.error);
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

  #find(begin: Buffer): NoAnswer | null {
    this.#found = findValue(begin);
    if (this.#found === null) return nonsense('something that is not JSON-RPC');
    const { kind, start } = this.#found;
    const opens = begin[start] === OPEN_BRACE || begin[start] === OPEN_BRACKET;
    const brackets = this.#options.passedOn && opens && kind === 'result' ? createBracketScanner() : null;
    this.#scanner = brackets ?? new ValueScanner();
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
