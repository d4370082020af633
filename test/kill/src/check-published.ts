import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { KINDS } from '@packhouse/chain';
import { type BundleRow, createDatabase } from '@packhouse/database';
import { silentContext } from '@packhouse/local';
import type { ServedChain } from '@packhouse/replay-node';
import { expectedRecord } from './make-chain.js';

const PAGE = 1_000;

/** The published data found. */
export interface PublishedFigures {
  bundles: number;
  /** Blocks of all kinds together. */
  records: number;
  bytes: number;
  /** Violations, as sentences. */
  violations: string[];
}

/**
 * Holds the range index and the objects against what the honest node has: the rows of each kind partition the range,
 * each object's bytes are what its row says, and every record is the node's in canonical form.
 */
export async function checkPublished(request: {
  databaseUrl: string;
  objects: string;
  chain: ServedChain;
  network: string;
}): Promise<PublishedFigures> {
  const { chain, network, objects } = request;
  const figures: PublishedFigures = { bundles: 0, records: 0, bytes: 0, violations: [] };
  const wrong = (sentence: string): void => void figures.violations.push(sentence);
  const database = createDatabase({
    connectionString: request.databaseUrl,
    context: silentContext(),
    applicationName: 'kill test',
  });
  try {
    for (const kind of KINDS) {
      let next = chain.firstNumber;
      for (let rows: BundleRow[] = []; ; ) {
        rows = await database.network(network).bundles.list(kind, next, PAGE);
        for (const row of rows) {
          if (row.firstBlock !== next)
            wrong(`${kind}: blocks ${next} to ${row.firstBlock - 1} are published nowhere`);
          next = row.lastBlock + 1;
          figures.bundles++;
          await checkBundle(row);
        }
        if (rows.length < PAGE) break;
      }
      if (next !== chain.lastNumber + 1) {
        wrong(`${kind}: published up to ${next - 1}, wanted up to ${chain.lastNumber}`);
      }
      const totals = await database.network(network).bundles.totals(kind);
      if (totals.blocks !== chain.lastNumber - chain.firstNumber + 1) {
        wrong(`${kind}: the index counts ${totals.blocks} blocks`);
      }
    }
    for (const row of await database.network(network).quarantine.list()) {
      wrong(`block ${row.firstBlock} of an honest node is quarantined: ${row.message} [${row.cause}]`);
    }
  } finally {
    await database.close();
  }
  return figures;

  async function checkBundle(row: BundleRow): Promise<void> {
    const name = `${row.kind} ${row.firstBlock}-${row.lastBlock}`;
    let bytes: Buffer;
    try {
      bytes = await readFile(path.join(objects, row.objectKey));
    } catch (error) {
      return wrong(`${name}: its object cannot be read: ${(error as Error).message}`);
    }
    figures.bytes += bytes.length;
    if (createHash('sha256').update(bytes).digest('hex') !== row.sha256) {
      return wrong(`${name}: the object's sha256 is not that of its row`);
    }
    const records = JSON.parse(gunzipSync(bytes).toString()) as unknown[];
    if (records.length !== row.lastBlock - row.firstBlock + 1)
      return wrong(`${name}: holds ${records.length} records`);
    for (const [at, record] of records.entries()) {
      const block = chain.block(row.firstBlock + at);
      figures.records++;
      if (block === undefined || JSON.stringify(record) !== expectedRecord(block, row.kind)) {
        wrong(`${name}: block ${row.firstBlock + at} differs from what the node has`);
      }
    }
  }
}
