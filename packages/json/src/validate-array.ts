import { isSpace } from './outline.js';
import { type ElementFacts, JsonValidator } from './validate.js';

interface ArrayValidator {
  /** False if the text is no JSON array: for good. */
  push(chunk: Uint8Array): boolean;
  /** Whether the array is closed. */
  finished(): boolean;
  /** Whole elements so far. */
  readonly elements: number;
  /** Bytes of space outside of elements. */
  readonly spaces: number;
}

/**
 * Checks a text that is one array, in constant memory, however large an element is. `onElement` gets each element that
 * ends, by its index, with those of its members that are named in `names` and are strings; it may return false, which
 * ends the scan as broken JSON does.
 */
export function createArrayValidator(
  names: readonly string[],
  onElement: (index: number, facts: ElementFacts) => boolean,
): ArrayValidator {
  // JSON.parse has no depth that it promises, and no limit of numbers; blocks and traces are less than ten deep.
  const validator = new JsonValidator({
    maxDepth: 1_000,
    maxNumber: Number.POSITIVE_INFINITY,
    elements: { names, onElement },
  });
  let spacesBehind = 0;
  let goesOn = false;
  return {
    push: (chunk) => {
      let at = validator.ended ? 0 : validator.scan(chunk);
      if (at === -1) return false;
      for (; at < chunk.length && isSpace(chunk[at]); at += 1) spacesBehind += 1;
      goesOn ||= at < chunk.length;
      return !goesOn;
    },
    finished: () => validator.ended && !goesOn,
    get elements() {
      return validator.elements;
    },
    get spaces() {
      return validator.spaces + spacesBehind;
    },
  };
}
