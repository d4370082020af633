import type { ResultBody, ResultCheck } from './forward-request.js';

/** What is wrong with a result, or with the beginning of a streamed one; null: nothing. */
export function checkBody(check: ResultCheck, body: ResultBody): string | null {
  for (const piece of body.pieces ?? [body.bytes]) {
    const wrong = check.push(piece);
    if (wrong !== null) return wrong;
  }
  return body.rest === null ? check.end() : null;
}

/** The rest of a streamed result, which breaks off at what is wrong; `found` is called with that first. */
export function checkRest(
  check: ResultCheck,
  rest: AsyncIterable<Buffer>,
  found: (wrong: string) => void,
): AsyncIterableIterator<Buffer> {
  const pieces = rest[Symbol.asyncIterator]();
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      const next = await pieces.next();
      const wrong = next.done === true ? check.end() : check.push(next.value);
      if (wrong === null) return next;
      found(wrong);
      await pieces.return?.();
      throw new Error(`a node sent ${wrong}`);
    },
    async return() {
      await pieces.return?.();
      return { done: true, value: undefined };
    },
  };
}
