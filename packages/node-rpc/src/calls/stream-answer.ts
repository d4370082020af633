import { StringDecoder } from 'node:string_decoder';
import { getManyValues, isMany, none } from 'stream-chain/defs.js';
import { Assembler } from 'stream-json/assembler.js';
import { jsonParser } from 'stream-json/parser.js';
import { type Asked, type Fault, makeFault, toRpcFault, toTransportFault } from '../upstream/fault.js';
import type { BodyRest } from '../upstream/http.js';
import { findPlace } from '../upstream/request-ids.js';
import { Utf8Check } from '../upstream/utf8-check.js';

/** The outcome of a streamed answer. */
export type StreamedAnswer =
  | { kind: 'fault'; fault: Fault }
  /** A result that is no array, or that had to be assembled. */
  | { kind: 'value'; value: unknown; bytes: number }
  /** The elements of the result array, to be read once; they reject with a PackhouseError. */
  | { kind: 'elements'; elements: AsyncIterableIterator<unknown> };

/** A body too long for memory: the pieces read so far and the rest on its socket. */
interface StreamedBody {
  start: Buffer[];
  rest: BodyRest;
  id: number;
  method: string;
  asked: Asked;
  /** Aborting destroys the connection; the elements then reject with its reason. */
  signal: AbortSignal;
  /** Assemble an array too, instead of streaming its elements. */
  assemble: boolean;
  /** One element may have this many bytes; above: NODE_ANSWER_TOO_LARGE. */
  elementBytes: number;
  /** An assembled result may have this many bytes. */
  valueBytes: number;
  /** A reader that reads nothing for this long loses its connection. */
  idleMs: number;
  /** Called once when the connection is no longer needed. */
  ended: () => void;
}

type Item = { type: 'array' } | { type: 'element' | 'value' | 'error' | 'id'; value: unknown };

/**
 * Reads a JSON-RPC answer with stream-json, one piece of the body at a time and only on demand.
 *
 * The steps are parser → pick `result` → elements, driven by hand: stream-chain's streams would read ahead of their
 * reader, and could not distinguish an error object or a null result from an empty array.
 */
export async function openStreamedAnswer(body: StreamedBody): Promise<StreamedAnswer> {
  const reader = createItemReader(body);
  let value: unknown;
  let seen = false;
  const collected: unknown[] = [];
  try {
    for (;;) {
      const item = await reader.next();
      if (item === null) break;
      if (item.type === 'error' && item.value !== null) {
        reader.close();
        return { kind: 'fault', fault: toOwnFault(item.value, body) };
      }
      if (item.type === 'array') {
        if (!body.assemble) return { kind: 'elements', elements: readElements(reader, body) };
        seen = true;
        value = collected;
      }
      if (item.type === 'element') collected.push(item.value);
      if (item.type === 'value') {
        seen = true;
        value = item.value;
      }
    }
  } catch (error) {
    reader.close();
    if (body.signal.aborted) throw body.signal.reason;
    return { kind: 'fault', fault: asFault(error, body.asked) };
  }
  if (!seen) {
    const happened = 'answered with neither result nor error';
    return { kind: 'fault', fault: makeFault(body.asked, 'NODE_ANSWER_INVALID', happened, 'elsewhere') };
  }
  return { kind: 'value', value, bytes: reader.bytes };
}

function readElements(reader: ItemReader, body: StreamedBody): AsyncIterableIterator<unknown> {
  let failed: unknown;
  const idle = setTimeout(() => {
    failed = makeFault(body.asked, 'NODE_TIMEOUT', 'sent an answer that nobody read', 'here').error;
    reader.close();
  }, body.idleMs);
  idle.unref();
  const abort = (): void => {
    failed = body.signal.reason;
    reader.close();
  };
  if (body.signal.aborted) abort();
  body.signal.addEventListener('abort', abort, { once: true });
  const close = (): void => {
    clearTimeout(idle);
    body.signal.removeEventListener('abort', abort);
    reader.close();
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: async () => {
      idle.refresh();
      try {
        for (;;) {
          if (failed !== undefined) throw failed;
          const item = await reader.next();
          if (failed !== undefined) throw failed;
          if (item === null) break;
          if (item.type === 'element') return { done: false, value: item.value };
          if (item.type === 'error' && item.value !== null) throw toOwnFault(item.value, body).error;
        }
        close();
        return { done: true, value: undefined };
      } catch (error) {
        close();
        failed ??= asFault(error, body.asked).error;
        throw failed;
      }
    },
    return: async () => {
      close();
      const happened = 'was left in the middle of its answer';
      failed ??= makeFault(body.asked, 'NODE_UNREACHABLE', happened, 'here').error;
      return { done: true, value: undefined };
    },
  };
}

type ItemReader = ReturnType<typeof createItemReader>;

function createItemReader(body: StreamedBody) {
  const decoder = new StringDecoder('utf8');
  const check = new Utf8Check();
  const parse = jsonParser({ packValues: true, streamValues: false });
  const { checkId, sawArray, walk } = createWalker(body);
  const start = [...body.start];
  // The replayed pieces are released one by one; other references to the list must not keep them.
  body.start.length = 0;
  start.reverse();
  let queue: Item[] = [];
  let position = 0;
  let bytes = 0;
  let sinceItem = 0;
  let finished = false;
  let closed = false;

  const close = (): void => {
    if (closed) return;
    closed = true;
    start.length = 0;
    if (!finished) {
      queue = [];
      body.rest.destroy();
    }
    body.ended();
  };

  const read = (text: string | typeof none): void => {
    let tokens: unknown;
    try {
      tokens = parse(text as string);
    } catch (error) {
      const happened = `answered with JSON that is cut off or malformed after ${bytes} bytes`;
      throw new StreamFault(body.asked, 'NODE_NOT_JSON_RPC', happened, 'here', {
        cause: error,
        weighs: true,
      });
    }
    if (!isMany(tokens)) return;
    for (const token of getManyValues(tokens) as Token[]) walk(token, queue);
  };

  return {
    get bytes(): number {
      return bytes;
    },
    close,
    next: async (): Promise<Item | null> => {
      for (;;) {
        if (position < queue.length) {
          const item = queue[position] as Item;
          position += 1;
          return item;
        }
        if (finished || closed) return null;
        queue = [];
        position = 0;
        const chunk = start.pop() ?? (await body.rest.next());
        if (chunk === null) {
          read(decoder.end());
          read(none);
          checkId();
          finished = true;
          close();
          continue;
        }
        bytes += chunk.length;
        if (!check.push(chunk)) {
          const happened = `answered with text that is not UTF-8 in ${bytes} bytes`;
          throw new StreamFault(body.asked, 'NODE_NOT_JSON_RPC', happened, 'here', { weighs: true });
        }
        read(decoder.write(chunk));
        sinceItem = queue.length > 0 ? 0 : sinceItem + chunk.length;
        const inPieces = sawArray() && !body.assemble;
        const [buffered, most] = inPieces ? [sinceItem, body.elementBytes] : [bytes, body.valueBytes];
        if (buffered > most) {
          const happened = `answered with more than ${most} bytes in one piece`;
          const hint = 'Raise NODE_MAX_BODY.';
          throw new StreamFault(body.asked, 'NODE_ANSWER_TOO_LARGE', happened, 'give-up', { hint });
        }
      }
    },
  };
}

interface Token {
  name: string;
  value?: unknown;
}

/** Follows the tokens of one envelope and extracts the result or error. */
function createWalker(body: StreamedBody) {
  const assembler = new Assembler();
  let place: 'outside' | 'envelope' | 'result' = 'outside';
  let key = '';
  let array = false;
  let id: string | undefined;
  let isResult = false;
  const fail = (happened: string): never => {
    throw new StreamFault(body.asked, 'NODE_ANSWER_INVALID', happened, 'here', { weighs: true });
  };
  const checkId = (): void => {
    if (findPlace(id, body.id, 1) !== undefined) return;
    if (isResult || (id !== undefined && id !== 'null')) {
      fail(`answered with id ${body.asked.label.quote(id ?? 'none')} instead of ${body.id}`);
    }
  };
  const walk = (token: Token, into: Item[]): void => {
    if (place === 'outside') {
      if (token.name !== 'startObject') fail('answered with something that is no JSON-RPC envelope');
      place = 'envelope';
      return;
    }
    if (assembler.done) {
      if (place === 'result' && token.name === 'endArray') {
        place = 'envelope';
        return;
      }
      if (place === 'envelope') {
        if (token.name === 'endObject') return;
        if (token.name === 'keyValue') {
          key = String(token.value);
          return;
        }
        if (key === 'result' && token.name === 'startArray') {
          place = 'result';
          isResult = true;
          array = true;
          into.push({ type: 'array' });
          return;
        }
      }
    }
    assembler.consume(token as Parameters<typeof assembler.consume>[0]);
    if (!assembler.done) return;
    const value: unknown = assembler.current;
    if (place === 'result') into.push({ type: 'element', value });
    else if (key === 'result') {
      isResult = true;
      into.push({ type: 'value', value });
    } else if (key === 'error') {
      isResult &&= value === null;
      into.push({ type: 'error', value });
    } else if (key === 'id') {
      id = JSON.stringify(value);
      checkId();
    }
  };
  return {
    walk,
    /** Throws unless the answer is to this request. */ checkId,
    /** Whether the result has begun and is an array. */ sawArray: (): boolean => array,
  };
}

/** Carries a fault through the reader; never thrown out of this file. */
class StreamFault extends Error {
  readonly fault: Fault;
  constructor(...parts: Parameters<typeof makeFault>) {
    const fault = makeFault(...parts);
    super(fault.error.message);
    this.fault = fault;
  }
}

/** The fault of an error that the node answered with. */
function toOwnFault(error: unknown, { asked, method }: StreamedBody): Fault {
  return toRpcFault(error, asked, { calls: 1, method });
}

function asFault(error: unknown, asked: Asked): Fault {
  return error instanceof StreamFault ? error.fault : toTransportFault(error, asked, 1);
}
