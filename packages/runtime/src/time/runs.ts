/** Shares a run of `work` that is still under way among all who ask for one. */
export function shareRun<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => {
    underWay ??= work().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}

/** Runs `write` every `everyMs`, one run at a time; `close` ends that with a last run. */
export function writeEvery(everyMs: number, write: () => Promise<void>): { close(): Promise<void> } {
  let writing: Promise<void> | undefined;
  const run = shareRun(() => {
    writing = write();
    return writing;
  });
  const timer = setInterval(() => void run(), everyMs);
  timer.unref();
  return {
    async close() {
      clearInterval(timer);
      await writing;
      await run();
    },
  };
}

/** What `work` resolves to; rejects with `late()` if that takes longer than `ms`. */
export async function withinMs<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
