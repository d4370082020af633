import { type BlockRange, isTable, type TableName } from '@packhouse/chain';
import type { Database, LakeFile, LakeTable } from '@packhouse/database';
import type { Clock } from '@packhouse/runtime';
import { LRUCache } from 'lru-cache';
import { createTtlCache } from '../cache/ttl-cache.js';
import { Problem } from '../http/problem.js';
import { createMetadata } from './metadata.js';

/** How long the tables of a network are reused, in milliseconds. */
const REUSE_MS = 1_000;
const MAX_NETWORKS = 1_000;
/** Files that are looked up by name and kept: about 5 KB each. */
const MAX_FILES = 2_000;

/** A data file, and its table. */
interface TableFile {
  table: TableName;
  file: LakeFile;
}

/** The tables of the lake, and their metadata. */
export type Catalog = ReturnType<typeof createCatalog>;

/** Creates the catalog of all networks. */
export function createCatalog({ database, clock }: { database: Database; clock: Clock }) {
  const remember = createTtlCache(clock, REUSE_MS, MAX_NETWORKS);
  const files = new LRUCache<string, TableFile>({ max: MAX_FILES });
  const tables = async (network: string): Promise<LakeTable[]> => {
    const found = await remember(network, () => database.network(network).lake.tables());
    return found.filter(({ snapshot }) => snapshot > 0);
  };
  return {
    metadata: createMetadata({ database }),
    /** The tables of a network that have rows, by kind. */
    tables,
    /** A table by name. Throws the problem `kind-unknown`. */
    async table(network: string, name: string): Promise<LakeTable> {
      const table = (await tables(network)).find(({ kind }) => kind === name);
      if (table !== undefined) return table;
      throw new Problem('kind-unknown', { detail: `${network} has no table of this name.` });
    },
    /** A data file by its blocks and object. Throws the problem `file-unknown`. */
    async dataFile(network: string, kind: string, blocks: BlockRange, objectKey: string): Promise<TableFile> {
      const known = files.get(objectKey);
      if (known !== undefined) return known;
      const table = isTable(kind) ? kind : null;
      const file = table && (await database.network(network).lake.file(table, blocks, objectKey));
      if (table !== null && file !== null) {
        const found = { table, file };
        files.set(objectKey, found);
        return found;
      }
      throw new Problem('file-unknown', {
        detail: 'No such data file; it may have been replaced. Load the table again.',
      });
    },
    /** Has the row of a data file read again. */
    forgetFile: (objectKey: string): void => void files.delete(objectKey),
  };
}
