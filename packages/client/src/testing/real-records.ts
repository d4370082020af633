import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { canonicalRecord, KINDS, type Kind } from '@packhouse/chain';

/** Recordings of real blocks, kept outside of the project. */
const FOLDER = new URL('../../../../../shared/chain-data/', import.meta.url);

/** Whether there are real blocks to test with. */
export const HAS_RECORDINGS = existsSync(FOLDER);

interface Recorded {
  number: number;
  block: { transactions: object[] };
  receipts?: { logs: object[] }[];
  traces?: object[];
}

/** The canonical text of each block of a recording, for each kind that it has. */
export function realTexts(name: string): { kind: Kind; number: number; text: string }[] {
  const lines = gunzipSync(readFileSync(new URL(`${name}.jsonl.gz`, FOLDER)))
    .toString('latin1')
    .split('\n');
  return lines.flatMap((line) => {
    if (line === '') return [];
    const { number, block, receipts, traces } = JSON.parse(line) as Recorded;
    const values: Partial<Record<Kind, unknown>> = {
      ...{ blocks: block, transactions: block.transactions, receipts, traces },
      logs: receipts?.flatMap(({ logs }) => logs),
    };
    return KINDS.flatMap((kind) => {
      if (values[kind] === undefined) return [];
      return [{ kind, number, text: canonicalRecord(kind, values[kind], { header: 'trust' }) }];
    });
  });
}

/** A bundle of these blocks. */
export function bundleOf(texts: readonly string[]): Buffer {
  return gzipSync(`[${texts.join(',')}]`);
}
