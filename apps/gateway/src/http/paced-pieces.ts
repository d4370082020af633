import { type CallSignal, getOrAdd } from '@packhouse/runtime';

/** Shares the event loop among large answers, so that no client's answers keep those of others waiting. */
export type Pacer = ReturnType<typeof createPacer>;

/** A turn of one owner; see Pacer. */
export type TakeTurn = (bytes: number) => Promise<void> | undefined;

/** Bytes for one turn of the event loop: half a millisecond of SHA-256, or a quarter of sending. */
const TURN_BYTES = 524_288;
/** Longer pieces are cut. */
export const PIECE_BYTES = 262_144;
/** So much of each answer is sent without a turn, so that small answers never wait. */
export const FREE_BYTES = 65_536;

interface Waiting {
  readonly bytes: number;
  begin(): void;
}

/**
 * Creates a pacer. In each turn of the event loop, waiting callers are served first, round robin by owner, until
 * `turnBytes` are used; the last piece may exceed them. One of several owners gets its share and no more, so that a
 * caller that comes again within the turn finds some left. `nextTurn` calls its argument in the next turn.
 */
export function createPacer(turnBytes = TURN_BYTES, nextTurn: (begin: () => void) => void = setImmediate) {
  /** Lines with waiting callers; the owner that was served last is last. */
  const lines = new Map<number | string, Set<Waiting>>();
  /** Bytes of this turn, and of its owners. */
  let given = 0;
  let isTurn = false;
  const givenTo = new Map<number | string, number>();
  let owners = 1;

  const hasShare = (owner: number | string): boolean =>
    given < turnBytes && (givenTo.get(owner) ?? 0) < turnBytes / owners;

  const give = (owner: number | string, bytes: number): void => {
    if (!isTurn) nextTurn(begin);
    isTurn = true;
    given += bytes;
    givenTo.set(owner, (givenTo.get(owner) ?? 0) + bytes);
  };

  const begin = (): void => {
    for (const owner of lines.keys()) givenTo.set(owner, 0);
    owners = givenTo.size;
    given = 0;
    isTurn = false;
    givenTo.clear();
    // A line that is put behind the others comes again.
    for (const [owner, line] of lines) {
      if (!hasShare(owner)) continue;
      const [next] = line as Iterable<Waiting> as [Waiting];
      lines.delete(owner);
      line.delete(next);
      if (line.size > 0) lines.set(owner, line);
      give(owner, next.bytes);
      next.begin();
    }
  };

  return {
    /**
     * Asks for the turn of bytes that are about to be checked or sent for an owner: a key or an address. Undefined: at
     * once. An owner's turns come in their order, and owners take turns. Rejects with the signal's reason when that is
     * aborted; then the place is free.
     */
    turn(owner: number | string, bytes: number, signal?: CallSignal): Promise<void> | undefined {
      if (signal?.aborted === true) return Promise.reject(signal.reason);
      if (!lines.has(owner) && hasShare(owner)) {
        give(owner, bytes);
        return undefined;
      }
      const mine = getOrAdd(lines, owner, () => new Set<Waiting>());
      return new Promise((resolve, reject) => {
        const gone = (): void => {
          mine.delete(waiting);
          if (mine.size === 0 && lines.get(owner) === mine) lines.delete(owner);
          reject(signal?.reason);
        };
        const waiting: Waiting = {
          bytes,
          begin: () => {
            signal?.removeEventListener('abort', gone);
            resolve();
          },
        };
        mine.add(waiting);
        signal?.addEventListener('abort', gone, { once: true });
      });
    },
  };
}

/** The pieces of a body, cut where they are long, each when its turn has come. */
export async function* paced<T extends Buffer | string>(
  body: Iterable<T> | AsyncIterable<T>,
  turn: TakeTurn,
): AsyncGenerator<T | Buffer, void, undefined> {
  let free = FREE_BYTES;
  for await (const piece of body) {
    for (const part of cut(piece)) {
      free -= part.length;
      const wait = free < 0 ? turn(part.length) : undefined;
      if (wait !== undefined) await wait;
      yield part;
    }
  }
}

function cut<T extends Buffer | string>(piece: T): (T | Buffer)[] {
  if (typeof piece === 'string' || piece.length <= PIECE_BYTES) return [piece];
  const parts: Buffer[] = [];
  for (let at = 0; at < piece.length; at += PIECE_BYTES) parts.push(piece.subarray(at, at + PIECE_BYTES));
  return parts;
}

/** The pieces of a body whose first one was read already. */
export async function* resume<T>(
  first: IteratorResult<T, unknown>,
  rest: AsyncGenerator<T, void, undefined>,
): AsyncGenerator<T, void, undefined> {
  if (first.done !== true) yield first.value;
  yield* rest;
}
