import { LRUCache } from 'lru-cache';

/** A call that was parsed and checked before. */
export interface CachedCall<M> {
  readonly method: M;
  /** The id as it was sent now. */
  readonly id: string;
  /** The result, which never changes. */
  readonly result: Buffer;
}

/**
 * Texts of requests whose answers are kept. A text that differs from an earlier one only in its id needs neither
 * parsing nor checking, which cost more than finding its answer.
 */
export interface RequestCache<M> {
  /** The call of a body; undefined: it must be parsed. */
  find(body: Buffer): CachedCall<M> | undefined;
  /** Adds a body that was checked and answered with the result kept under `name`; `id` as it was sent. */
  add(body: Buffer, id: string | undefined, method: M, name: string): void;
}

/** Longer texts are parsed every time: few are repeated. */
const MAX_TEXT_LENGTH = 1_024;
const OVERHEAD = 200;
/** Room for about 20,000 texts. */
const MAX_BYTES = 8_388_608;

/** Libraries write the id after the first brace or before the last one; there it is certainly the request's id. */
const FIRST = /^\{(?:"jsonrpc": ?"2\.0", ?)?"id": ?(0|[1-9]\d{0,14}),/;
const LAST = /, ?"id": ?(0|[1-9]\d{0,14})(?:, ?"jsonrpc": ?"2\.0")?\}$/;
const ID = '"id":';
const ANY_ID = /"id"\s*:/g;
/** Printable ASCII without a backslash. */
const PLAIN = /^[ -[\]-~]*$/;

/** Creates an empty memory in front of the answers that `kept` finds by name. */
export function createRequestCache<M>(kept: (name: string) => Buffer | undefined): RequestCache<M> {
  const texts = new LRUCache<string, { method: M; name: string }>({ maxSize: MAX_BYTES });
  return {
    find(body) {
      if (texts.size === 0 || body.length > MAX_TEXT_LENGTH) return undefined;
      const cut = cutId(body.toString('latin1'));
      const known = cut === null ? undefined : texts.peek(cut.rest);
      if (cut === null || known === undefined) return undefined;
      const result = kept(known.name);
      return result === undefined ? undefined : { method: known.method, id: cut.id, result };
    },
    add(body, id, method, name) {
      if (body.length > MAX_TEXT_LENGTH) return;
      const text = body.toString('latin1');
      // With other characters or a second id, two equal texts may still mean different requests.
      if (!PLAIN.test(text) || (text.match(ANY_ID)?.length ?? 0) !== 1) return;
      const cut = cutId(text);
      if (cut === null || cut.id !== id) return;
      texts.set(cut.rest, { method, name }, { size: cut.rest.length + name.length + OVERHEAD });
    },
  };
}

/** The beginning that most libraries write. */
const PREFIX = '{"jsonrpc":"2.0","id":';
const [ZERO, NINE, COMMA] = [0x30, 0x39, 0x2c];
const MAX_DIGITS = 15;

/** The id and the text without it; null if the id is elsewhere. */
function cutId(text: string): { id: string; rest: string } | null {
  if (text.startsWith(PREFIX)) {
    let end = PREFIX.length;
    for (let digit = text.charCodeAt(end); digit >= ZERO && digit <= NINE; digit = text.charCodeAt(end))
      end += 1;
    const digits = end - PREFIX.length;
    const plain = digits === 1 || (digits <= MAX_DIGITS && text.charCodeAt(PREFIX.length) !== ZERO);
    if (digits === 0 || !plain || text.charCodeAt(end) !== COMMA) return null;
    // Nothing else begins with a comma, so the beginning need not be put before it.
    return { id: text.slice(PREFIX.length, end), rest: text.slice(end) };
  }
  const found = FIRST.exec(text) ?? LAST.exec(text);
  if (found === null) return null;
  const id = found[1] as string;
  const at = text.indexOf(id, text.indexOf(ID, found.index));
  return { id, rest: text.slice(0, at) + text.slice(at + id.length) };
}
