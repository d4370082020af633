import { statfs } from 'node:fs/promises';
import { formatBytes } from '../format.js';

/** The default of an ingester; an embedded Postgres never gets more of a disk. */
const MOST_BYTES = 21_474_836_480;
/** Less than this would spend its time on going on and off. */
const LEAST_BYTES = 268_435_456;

/**
 * How much staging may take: what STAGING_MAX_BYTES says; else, where Postgres is on this disk, half of what is free
 * on it. `line` says so.
 */
export async function stagingLimit(options: {
  env: Readonly<Record<string, string | undefined>>;
  /** Where the embedded Postgres keeps its data; null where Postgres is elsewhere. */
  directory: string | null;
}): Promise<{ value: string | undefined; line: string | null }> {
  const given = options.env.STAGING_MAX_BYTES;
  if ((given !== undefined && given !== '') || options.directory === null) {
    return { value: given, line: null };
  }
  const { bavail, bsize } = await statfs(options.directory);
  const bytes = Math.floor(Math.min(MOST_BYTES, Math.max(LEAST_BYTES, (bavail * bsize) / 2)));
  return {
    value: String(bytes),
    line: `Staging takes at most ${formatBytes(bytes)} of this disk (STAGING_MAX_BYTES); fetching waits for packing beyond that.`,
  };
}
