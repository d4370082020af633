import { performance } from 'node:perf_hooks';

/** The timers of a node: all end with it. */
export interface Timers {
  /** Resolves to false if the node was closed before the time was over. */
  sleep(ms: number): Promise<boolean>;
  close(): void;
}

/** No timer runs at first. */
export function createTimers(): Timers {
  const pending = new Map<NodeJS.Timeout, (inTime: boolean) => void>();
  return {
    sleep: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => {
          pending.delete(timer);
          resolve(true);
        }, ms);
        pending.set(timer, resolve);
      }),
    close() {
      for (const [timer, resolve] of pending) {
        clearTimeout(timer);
        resolve(false);
      }
      pending.clear();
    },
  };
}

/** A line of so many bytes a second that all answers share. */
export interface Line {
  /** The most bytes to send at once. */
  readonly chunkBytes: number;
  /** Waits until that many bytes may go; false if the node was closed meanwhile. */
  take(bytes: number): Promise<boolean>;
}

/** A line that sends in steps of some 10 ms. */
export function createLine(bytesPerSecond: number, timers: Timers): Line {
  let free = 0;
  return {
    chunkBytes: Math.max(1, Math.min(65_536, Math.floor(bytesPerSecond / 100))),
    async take(bytes) {
      const now = performance.now();
      const start = Math.max(now, free);
      free = start + (bytes / bytesPerSecond) * 1000;
      return start - now < 1 ? true : timers.sleep(start - now);
    },
  };
}

/** Whether one more request is within so many a second: a bucket that holds a second's worth. */
export function createRateLimit(requestsPerSecond: number): () => boolean {
  const capacity = Math.max(1, requestsPerSecond);
  let tokens = capacity;
  let last = performance.now();
  return () => {
    const now = performance.now();
    tokens = Math.min(capacity, tokens + ((now - last) / 1000) * requestsPerSecond);
    last = now;
    if (tokens < 1) return false;
    tokens--;
    return true;
  };
}
