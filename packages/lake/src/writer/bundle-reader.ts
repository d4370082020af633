import type { Kind } from '@packhouse/chain';
import type { PublishedFile } from '@packhouse/database';
import { type CodedBatch, type RowSource, readCodedRows, type Schema } from '@packhouse/rows';
import { closeSource, openSource, readSourceTimes, type SourceParts } from './sources.js';

/** Rows of a batch, or more if a block has more. */
const BATCH_ROWS = 4_096;

/** Reads the bundles of a kind one after another, and fetches the next one meanwhile. */
export interface BundleReader {
  /** All blocks up to this one were read, or are in no bundle; Infinity after the last one. */
  readonly through: number;
  /** The rows of the next bundle. Throws as `openSource`, BUNDLE_INVALID, RECORD_INVALID. */
  read(): AsyncGenerator<CodedBatch, void, undefined>;
  /** To be called when no more is read. */
  close(): Promise<void>;
}

/** Opens a reader of bundles, which are ascending. */
export function openBundleReader(
  parts: SourceParts,
  { kind, chainId, schema }: { kind: Kind; chainId: number; schema: Schema },
  bundles: readonly PublishedFile[],
): BundleReader {
  let next = 0;
  let fetched: ReturnType<typeof openSource> | null = null;
  const fetchNext = (): void => {
    const bundle = bundles[next];
    fetched = bundle === undefined ? null : openSource(parts, kind, bundle);
    // Who reads it is told.
    fetched?.catch(() => undefined);
  };
  return {
    get through() {
      const bundle = bundles[next];
      return bundle === undefined ? Number.POSITIVE_INFINITY : bundle.firstBlock - 1;
    },
    async *read() {
      parts.signal.throwIfAborted();
      if (fetched === null) fetchNext();
      const bundle = bundles[next] as PublishedFile;
      const source = await (fetched as unknown as ReturnType<typeof openSource>);
      next += 1;
      fetchNext();
      try {
        const times: RowSource['times'] = () => readSourceTimes(parts, kind, bundle);
        const { firstBlock: fileFrom } = bundle;
        yield* readCodedRows({ ...source, kind, chainId, schema, fileFrom, times, batchRows: BATCH_ROWS });
      } finally {
        await closeSource(source);
      }
    },
    async close() {
      const source = await fetched?.catch(() => null);
      if (source != null) await closeSource(source);
      fetched = null;
    },
  };
}
