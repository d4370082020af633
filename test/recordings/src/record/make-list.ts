import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { PackhouseError } from '@packhouse/runtime';
import type { Recorded } from '../recordings.js';
import type { ListedFile, ListedRow, RecordingList } from './list.js';
import { findNote } from './notes.js';
import { createRowProver, hashProved, hashTraces, type RowProver } from './prove-row.js';

/** A row of the list with what links it to the next. */
interface Link {
  row: ListedRow;
  block: Recorded['block'];
}

/** Fewer blocks in a row are listed one by one. */
const MIN_RUN = 64;
/** Members of a line that need no note; `source` is where it comes from. */
const PARTS: ReadonlySet<string> = new Set(['net', 'number', 'block', 'receipts', 'traces', 'source']);
const EXTENSION = '.jsonl.gz';

/** Makes the list of a folder of recordings, whose blocks must pass their proofs. */
export async function makeList(folder: string): Promise<RecordingList> {
  const names = await readdir(folder).catch((cause: NodeJS.ErrnoException) => {
    throw new PackhouseError({
      code: 'USAGE',
      message: `The folder ${folder} cannot be read (${cause.code}).`,
      hint: 'Give the folder that RECORDINGS names.',
      cause,
    });
  });
  const provers = new Map<number, RowProver>();
  const files: ListedFile[] = [];
  for (const name of names.filter((each) => each.endsWith(EXTENSION)).sort()) {
    const file = name.slice(0, -EXTENSION.length);
    const links: Link[] = [];
    let net = false;
    for (const text of gunzipSync(await readFile(path.join(folder, name)))
      .toString('utf8')
      .split('\n')) {
      if (text === '') continue;
      const line = JSON.parse(text) as Recorded;
      net = line.net !== undefined;
      links.push({ row: await toRow(file, line, provers), block: line.block });
    }
    files.push({ file, net, rows: joinRuns(links) });
  }
  return { files };
}

async function toRow(file: string, line: Recorded, provers: Map<number, RowProver>): Promise<ListedRow> {
  const { block, net, number, receipts, traces } = line;
  const { chainId, incomplete, missing, network, reason } = findNote(file, net, number);
  const head = { network, ...(chainId !== undefined && { chainId }), number, hash: String(block.hash) };
  if (chainId === undefined || reason !== undefined)
    return { ...head, reason: reason ?? 'of no known chain' };
  const unnamed = Object.keys(line).find((part) => !PARTS.has(part) && missing?.[part] === undefined);
  if (unnamed !== undefined)
    throw new Error(
      `block ${number} of ${file} has ${unnamed}, of which notes.ts of the recorder says nothing`,
    );
  const row: ListedRow = {
    ...head,
    ...(block.totalDifficulty != null && { totalDifficulty: String(block.totalDifficulty) }),
    ...(receipts !== undefined && { receipts: true as const }),
    ...(missing !== undefined && { missing: { ...missing } }),
  };
  if (incomplete) return row;
  const prover = provers.get(chainId) ?? (await createRowProver(chainId));
  provers.set(chainId, prover);
  const proved = prover.prove(receipts === undefined ? { block } : { block, receipts });
  if (proved.missing.includes('withdrawals')) row.lacks = ['withdrawals'];
  if (!prover.isProved(proved)) {
    const hashes = hashProved(proved);
    row.block = hashes.block;
    if (hashes.receipts !== undefined) row.receipts = hashes.receipts;
  }
  if (traces !== undefined && missing?.traces === undefined) row.traces = hashTraces(traces);
  return row;
}

/** Many blocks that name each other become one row. */
function joinRuns(links: readonly Link[]): ListedRow[] {
  const rows: ListedRow[] = [];
  for (let at = 0; at < links.length; ) {
    let end = at + 1;
    while (end < links.length && follows(links[end - 1] as Link, links[end] as Link)) end++;
    const run = links.slice(at, end).map(({ row }) => row);
    const [first, last] = [run[0] as ListedRow, run.at(-1) as ListedRow];
    if (run.length < MIN_RUN) rows.push(...run);
    else {
      const { network, chainId, number: to, ...rest } = last;
      rows.push({ network, chainId, from: first.number, to, ...rest });
    }
    at = end;
  }
  return rows;
}

function follows(before: Link, { row, block }: Link): boolean {
  if (row.number !== (before.row.number as number) + 1 || block.parentHash !== before.row.hash) return false;
  if (before.row.receipts !== row.receipts || before.row.network !== row.network) return false;
  if (
    [before.row, row].some((each) => each.block ?? each.traces ?? each.missing ?? each.lacks ?? each.reason)
  )
    return false;
  const [total, next] = [before.row.totalDifficulty, row.totalDifficulty];
  if (total === undefined || next === undefined) return total === next;
  return BigInt(total) + BigInt(String(block.difficulty)) === BigInt(next);
}
