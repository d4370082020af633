import { gunzipSync } from 'node:zlib';
import { KINDS, type Kind } from '@packhouse/chain';
import type { GatewayReader } from './gateway-reader.js';

/** The result of the downloads of one reader. */
interface DownloadLoop {
  /** Answers by status, and by reason where they are refusals: `200`, `410 reorganised`, … */
  counts: Record<string, number>;
  /** Everything that may not happen, in words. */
  wrong: string[];
  stop(): Promise<void>;
}

/** Statuses a reader has to expect of blocks that are not final. */
const EXPECTED = new Set(['200', '404', '410']);

/**
 * Downloads one block after the other, in all kinds, until it is stopped. `isRight` says whether a record is that of a
 * block which the chain has or had; `newest` the highest block that is worth asking for.
 */
export function startDownloads(
  gateway: GatewayReader,
  options: {
    first: number;
    newest: () => number;
    isRight: (kind: Kind, number: number, record: unknown) => boolean;
    readers?: number;
  },
): DownloadLoop {
  const counts: Record<string, number> = {};
  const wrong: string[] = [];
  let stopped = false;
  let turn = 0;

  const count = async (response: Response): Promise<boolean> => {
    const ok = response.status === 200;
    const body = ok ? null : ((await response.json()) as { reason?: string });
    const name = ok ? '200' : `${response.status} ${body?.reason}`;
    counts[name] = (counts[name] ?? 0) + 1;
    if (!EXPECTED.has(String(response.status)))
      wrong.push(`${response.url.replace(gateway.apiKey, '')}: ${name}`);
    if (response.status === 410 && body?.reason !== 'reorganised')
      wrong.push(`410 without its reason: ${name}`);
    return ok;
  };

  const one = async (kind: Kind, number: number): Promise<void> => {
    const pointer = await fetch(`${gateway.baseUrl}${gateway.apiKey}/bundle-api/${kind}/${number}`);
    if (!(await count(pointer))) return;
    const { range, download_link } = (await pointer.json()) as { range: string; download_link: string };
    const answer = await gateway.ask(download_link);
    if (!(await count(answer))) return;
    const [start, end] = range.split('-').map(Number) as [number, number];
    // A wrong checksum or length inside would not be unpacked.
    const records = JSON.parse(gunzipSync(Buffer.from(await answer.arrayBuffer())).toString()) as unknown[];
    if (records.length !== end - start + 1) wrong.push(`${kind} ${range} has ${records.length} records`);
    for (const [i, record] of records.entries()) {
      if (!options.isRight(kind, start + i, record))
        wrong.push(`${kind} ${start + i} is of no branch there ever was`);
    }
  };

  const read = async (): Promise<void> => {
    while (!stopped) {
      turn += 1;
      const kind = KINDS[turn % KINDS.length] as Kind;
      const width = options.newest() - options.first + 1;
      try {
        await one(kind, options.first + ((turn * 7) % width));
      } catch (error) {
        if (!stopped) wrong.push(error instanceof Error ? error.message : String(error));
      }
    }
  };

  const readers = Array.from({ length: options.readers ?? 2 }, read);
  return {
    counts,
    wrong,
    stop: async () => {
      stopped = true;
      await Promise.all(readers);
    },
  };
}
