import { createHash } from 'node:crypto';
import zlib from 'node:zlib';
import type { BlockRange, Kind } from '@packhouse/chain';
import { parquetReadObjects } from 'hyparquet';
import { canonicalText } from '../chain/canonical.js';
import { ALL_BLOCKS, type Evidence } from './evidence.js';
import { createFindings, type Verdict } from './verdict.js';

/** The columns that name a row within its block; those of traces do not, so they are counted. */
const NAMED_BY: Readonly<Record<Kind, string>> = {
  blocks: 'block_hash',
  transactions: 'transaction_hash',
  receipts: 'transaction_index',
  logs: 'log_index',
  traces: 'block_number',
};
/** zstd since Node 22.15. */
const zstd = (zlib as { zstdDecompressSync?: (bytes: Uint8Array) => Uint8Array }).zstdDecompressSync;
const COMPRESSORS = { GZIP: (bytes: Uint8Array) => zlib.gunzipSync(bytes), ...(zstd && { ZSTD: zstd }) };

/** Invariant 5, of tables: each row of the published bundles is in its table exactly once, in the order of the chain. */
export async function lakeIsPublished(evidence: Evidence, expected: BlockRange): Promise<Verdict> {
  const findings = createFindings(5, 'the tables of the lake have each published row once');
  for (const kind of evidence.kinds) {
    const rows = await tableRows(evidence, kind, (text) => findings.violated(text));
    const honest = honestRows(evidence, kind, expected);
    findings.looked(rows.length);
    const at = honest.findIndex((row, index) => row !== rows[index]);
    if (at !== -1) findings.violated(`row ${at} of ${kind} is ${rows[at]}, the chain has ${honest[at]}`);
    else if (rows.length > honest.length)
      findings.violated(`${kind} has ${rows.length} rows, the chain has ${honest.length}`);
  }
  return findings.verdict();
}

/** The names of the rows of a table, in the order of its files. */
async function tableRows(
  { database, network, readObject }: Evidence,
  kind: Kind,
  violated: (text: string) => void,
): Promise<string[]> {
  const names: string[] = [];
  for (const { objectKey, sha256 } of await database.network(network).lake.newest(kind, ALL_BLOCKS)) {
    const body = await readObject(objectKey);
    if (body === null || createHash('sha256').update(body).digest('hex') !== sha256) {
      violated(`data file ${objectKey} is ${body === null ? 'missing' : 'another one than its row says'}`);
      continue;
    }
    const file = body.buffer.slice(body.byteOffset, body.byteOffset + body.length) as ArrayBuffer;
    const columns = [...new Set(['block_number', NAMED_BY[kind]])];
    const rows = await parquetReadObjects({ file, columns, compressors: COMPRESSORS });
    for (const row of rows) names.push(`${row.block_number} ${row[NAMED_BY[kind]]}`);
  }
  return names;
}

/** The same of the honest chain. */
function honestRows({ chain }: Evidence, kind: Kind, { firstBlock, lastBlock }: BlockRange): string[] {
  const names: string[] = [];
  for (let number = firstBlock; number <= lastBlock; number += 1) {
    const block = chain.block(number);
    if (block === undefined) continue;
    const record: unknown = JSON.parse(canonicalText(block, kind));
    const items = (kind === 'blocks' ? [record] : record) as Record<string, string>[];
    for (const item of items) names.push(`${number} ${nameOf(kind, number, item)}`);
  }
  return names;
}

function nameOf(kind: Kind, number: number, item: Record<string, string>): string | number {
  switch (kind) {
    case 'blocks':
    case 'transactions':
      return item.hash ?? '';
    case 'receipts':
      return Number(item.transactionIndex);
    case 'logs':
      return Number(item.logIndex);
    case 'traces':
      return number;
  }
}
