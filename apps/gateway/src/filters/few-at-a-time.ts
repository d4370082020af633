/** Questions of one poll that are under way at a time. */
const CONCURRENCY = 8;

/** What `work` gives for each item, in the order of the items. Throws what the first that fails throws. */
export async function fewAtATime<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length);
  let next = 0;
  const run = async (): Promise<void> => {
    for (let mine = next++; mine < items.length; mine = next++) results[mine] = await work(items[mine] as T);
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, items.length) }, run));
  return results;
}
