/** Whether to ask one upstream for gzip: decided by measuring both, since it depends on the connection. */
type EncodingChoice = ReturnType<typeof createEncodingChoice>;
type Encoding = 'gzip' | 'identity';

/**
 * The choice for each method of one address, because small answers only cost more with gzip: a method is asked without
 * until some of its answers were large. Methods beyond `most` share one choice.
 */
export function createMethodEncodings(hostname: string, most: number): (method: string) => EncodingChoice {
  const others = createEncodingChoice(hostname);
  const choices = new Map<string, EncodingChoice>();
  return (method) => {
    let choice = choices.get(method);
    if (choice !== undefined) return choice;
    if (choices.size >= most) return others;
    choice = createEncodingChoice(hostname);
    choices.set(method, choice);
    return choice;
  };
}

const SAMPLES = 4;
/** Below this size latency hides bandwidth. */
const MIN_SAMPLE = 65_536;

/**
 * Creates the choice for one address. On loopback gzip only costs (measured: 2 MB of answers take 15 to 23 ms to
 * compress and 4 ms to decompress, to save half a millisecond of copying), so it is never requested there.
 */
export function createEncodingChoice(hostname: string) {
  const loopback = /^(?:(?:.*\.)?localhost|\[::1\]|127\..*)$/.test(hostname);
  const seen = { gzip: { count: 0, rate: 0 }, identity: { count: 0, rate: 0 } };
  return {
    /** The Accept-Encoding of the next request. */
    next: (): Encoding => {
      if (loopback || seen.identity.count < SAMPLES) return 'identity';
      if (seen.gzip.count < SAMPLES) return 'gzip';
      return seen.gzip.rate > seen.identity.rate * 1.1 ? 'gzip' : 'identity';
    },
    /** Reports an answer: its bytes after decoding and the time from the request to its last byte. */
    note: (encoding: Encoding, bytes: number, elapsedMs: number): void => {
      if (bytes < MIN_SAMPLE) return;
      const kind = seen[encoding];
      const rate = bytes / Math.max(1, elapsedMs);
      kind.rate = kind.count === 0 ? rate : kind.rate * 0.8 + rate * 0.2;
      kind.count += 1;
    },
  };
}
