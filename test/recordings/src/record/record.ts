/**
 * Records the blocks of a list from a node, each proved before it is kept:
 *
 *   list → rows of the node's chain → what the folder has already → the node → proofs → the folder
 *
 * Blocks in a row are recorded from the last one down: only its hash is known, and each proved block names the hash of
 * the one before it.
 */
import { describeError, isPackhouseError, PackhouseError } from '@packhouse/runtime';
import type { Recorded } from '../recordings.js';
import { countBlocks, type ListedFile, type ListedRow, type RecordingList, toKey, toRange } from './list.js';
import { MAX_IN_FLIGHT, type SourceNode } from './node.js';
import {
  type Answers,
  createRowProver,
  type ProvedRow,
  type RowProver,
  type WantedBlock,
} from './prove-row.js';
import { openFolder, openRecordingFile, type RecordingFile } from './recording-file.js';

interface RecordOptions {
  list: RecordingList;
  node: SourceNode;
  /** Where the files are, or will be. */
  folder: string;
  /** Writes a line for the operator. */
  say(line: string): void;
  /** Stops it; what was recorded is kept. */
  signal: AbortSignal;
}

/** Counts of blocks. */
export interface RecordResult {
  chainId: number;
  recorded: number;
  /** They were in the folder already. */
  kept: number;
  failed: number;
}

/** What one file needs. */
interface Work extends RecordOptions {
  listed: ListedFile;
  file: RecordingFile;
  prover: RowProver;
  result: RecordResult;
  /** Saves the file now and then. */
  note(): Promise<void>;
}

/** Files are written anew whole, so not after each block. */
const SAVE_BLOCKS = 256;
const SAVE_MS = 20_000;
/** Blocks in a row that are asked for before the first of them is proved. */
const CHUNK_BLOCKS = 64;

/** Records what the node has. Throws when aborted, and what makes all further blocks fail too. */
export async function record(options: RecordOptions): Promise<RecordResult> {
  const { folder, list, node } = options;
  await openFolder(folder);
  const chainId = await node.chainId();
  const isOurs = (row: ListedRow): boolean => row.chainId === chainId && row.reason === undefined;
  if (!list.files.some(({ rows }) => rows.some(isOurs))) throw chainUnlisted(list, chainId);
  const prover = await createRowProver(chainId);
  const result: RecordResult = { chainId, recorded: 0, kept: 0, failed: 0 };
  for (const listed of list.files) {
    const rows = listed.rows.filter(isOurs);
    if (rows.length === 0) continue;
    const file = await openRecordingFile(folder, listed);
    const blocks = rows.reduce((sum, row) => sum + countBlocks(row), 0);
    const failedBefore = result.failed;
    const note = createSaver(file, (done) =>
      options.say(`${listed.file}: ${done} of ${blocks} blocks recorded`),
    );
    const work: Work = { ...options, listed, file, prover, result, note };
    try {
      await forEach(
        rows.filter(({ number }) => number !== undefined),
        (row) => recordOne(work, row),
      );
      for (const row of rows) if (row.number === undefined) await recordRun(work, row);
    } finally {
      await file.save();
    }
    const proved = blocks - (result.failed - failedBefore);
    options.say(`${listed.file}: ${proved} of ${blocks} blocks are there and proved`);
  }
  return result;
}

async function recordOne(work: Work, row: ListedRow): Promise<void> {
  const wanted: WantedBlock = { ...row, number: row.number as number };
  if (keepRow(work, wanted) === undefined)
    await fetchRow(work, wanted, () => fetchAnswers(work.node, wanted));
}

async function recordRun(work: Work, row: ListedRow): Promise<void> {
  const { from, to } = toRange(row);
  let wanted: WantedBlock = { ...row, number: to };
  for (let last = to; last >= from; last -= CHUNK_BLOCKS) {
    const numbers = Array.from({ length: Math.min(CHUNK_BLOCKS, last - from + 1) }, (_, at) => last - at);
    const fetched = new Map<number, Promise<Answers>>();
    const lacking = numbers.filter((number) => work.file.get(getKey(work, row, number)) === undefined);
    await forEach(lacking, async (number) => {
      const answers = fetchAnswers(work.node, { ...row, number });
      fetched.set(number, answers);
      await answers.catch(() => undefined);
    });
    for (const number of numbers) {
      const current = wanted;
      const fetch = () => fetched.get(number) ?? fetchAnswers(work.node, current);
      const proved = keepRow(work, current) ?? (await fetchRow(work, current, fetch));
      if (proved === undefined) {
        const left = number - from;
        if (left === 0) return;
        work.result.failed += left;
        work.say(
          `${work.listed.file}: Blocks ${from} to ${number - 1} are left out too: block ${number} proves them.`,
        );
        return;
      }
      const { totalDifficulty: _, ...rest } = wanted;
      wanted = { ...rest, number: number - 1, hash: proved.parentHash };
      if (row.totalDifficulty !== undefined && proved.parentTotal !== undefined)
        wanted.totalDifficulty = proved.parentTotal;
    }
  }
}

async function fetchAnswers(node: SourceNode, wanted: WantedBlock): Promise<Answers> {
  const { number, receipts, traces } = wanted;
  const block = await node.block(number);
  const answers: Answers = { block };
  if (block == null) return answers;
  if (receipts !== undefined) {
    const { transactions } = block as Partial<Recorded['block']>;
    const hashes = Array.isArray(transactions) ? transactions.map((tx) => String(tx?.hash)) : [];
    // The root of a block without transactions proves that it has no receipts: no node needs to be asked.
    answers.receipts = hashes.length === 0 ? [] : await node.receipts(number, hashes);
  }
  if (traces !== undefined) answers.traces = await node.traces(number);
  return answers;
}

/** What the folder has of a block, if all that the list wants of it is there and proved. */
function keepRow(work: Work, wanted: WantedBlock): ProvedRow | undefined {
  const line = work.file.get(getKey(work, wanted, wanted.number));
  if (line === undefined) return undefined;
  try {
    const proved = work.prover.proveRow(wanted, JSON.parse(line) as Answers);
    work.result.kept += 1;
    return proved;
  } catch {
    return undefined;
  }
}

async function fetchRow(
  work: Work,
  wanted: WantedBlock,
  fetch: () => Promise<Answers>,
): Promise<ProvedRow | undefined> {
  const { file, listed, prover, result, say, signal } = work;
  const key = getKey(work, wanted, wanted.number);
  // It is not there, or not what the list says.
  file.delete(key);
  let found: Answers | undefined;
  try {
    found = await fetch();
    const proved = prover.proveRow(wanted, found);
    const net = listed.net ? { net: wanted.network } : {};
    file.set(key, JSON.stringify({ ...net, ...proved.recorded }));
    result.recorded += 1;
    await work.note();
    return proved;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    // Each further block would say the same.
    if (!isPackhouseError(error) || ENDING.has(error.code)) throw error;
    result.failed += 1;
    say(`${listed.file}: ${describeError(withHint(error))}`);
    return found === undefined ? undefined : proveAlone(prover, wanted, found);
  }
}

const ENDING: ReadonlySet<string> = new Set(['NODE_UNREACHABLE', 'NODE_UNAUTHORIZED', 'OUTPUT_FAILED']);

/** A block without its receipts still says which block comes before it. */
function proveAlone(prover: RowProver, wanted: WantedBlock, { block }: Answers): ProvedRow | undefined {
  const { receipts: _, traces: __, ...alone } = wanted;
  try {
    return prover.proveRow(alone, { block });
  } catch {
    return undefined;
  }
}

function withHint(error: PackhouseError): PackhouseError {
  const { cause, code, data, hint, message } = error;
  if (hint !== undefined) return error;
  const isProof = code === 'PROOF_FAILED' || code === 'RECORD_INVALID';
  const advice = isProof
    ? 'It is left out; ask another node.'
    : 'It is left out; old blocks need an archive node.';
  return new PackhouseError({ code, message, data, cause, hint: advice });
}

function getKey({ listed }: Work, { network }: Pick<ListedRow, 'network'>, number: number): string {
  return toKey(listed.net ? network : undefined, number);
}

function createSaver(file: RecordingFile, saved: (blocks: number) => void): () => Promise<void> {
  let blocks = 0;
  let unsaved = 0;
  let savedAt = performance.now();
  // One after the other: all write the same file.
  let saving = Promise.resolve();
  return () => {
    blocks += 1;
    unsaved += 1;
    if (unsaved < SAVE_BLOCKS && performance.now() - savedAt < SAVE_MS) return saving;
    unsaved = 0;
    savedAt = performance.now();
    const done = blocks;
    saving = saving.then(async () => {
      await file.save();
      saved(done);
    });
    return saving;
  };
}

/** Runs a task for each item, as many at a time as requests may be in flight; ends with the first error. */
async function forEach<T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  let failed = false;
  const run = async (): Promise<void> => {
    for (const item of queue) {
      if (failed) return;
      await task(item).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  const runs = await Promise.allSettled(Array.from({ length: MAX_IN_FLIGHT }, run));
  for (const each of runs) if (each.status === 'rejected') throw each.reason;
}

/** The blocks of a list by the chain whose node gives them, in words. */
export function describeChains(rows: readonly ListedRow[]): string {
  const counts = new Map<string, number>();
  for (const row of rows) {
    if (row.reason !== undefined) continue;
    const chain = `chain ${row.chainId} (${row.network})`;
    counts.set(chain, (counts.get(chain) ?? 0) + countBlocks(row));
  }
  return [...counts].map(([chain, blocks]) => `${blocks} of ${chain}`).join(', ');
}

function chainUnlisted({ files }: RecordingList, chainId: number): PackhouseError {
  const rows = files.flatMap((file) => file.rows);
  return new PackhouseError({
    code: 'USAGE',
    message: `The node is on chain ${chainId}, of which the list has no blocks; it has ${describeChains(rows)}.`,
    hint: 'Give a node of one of these chains.',
  });
}
