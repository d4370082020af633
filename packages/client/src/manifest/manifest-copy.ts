import type { KeyObject } from 'node:crypto';
import path from 'node:path';
import type { BlockRange } from '@packhouse/chain';
import { createVerifier, entryLine, parseEntry, type SealedEntry } from '@packhouse/manifest';
import { writeWhole } from '@packhouse/runtime';
import type { Answer, Gateway } from '../fetch/http.js';
import { type BundleRow, type BundleRows, createBundleRows } from './bundle-rows.js';
import { isWhole, missingParts, withPart } from './known-parts.js';
import { type LineStore, memoryLines, openLineFile, PIECE, readLines } from './lines.js';
import { checkLog, cutOff, forked, lost, wasChanged } from './log-faults.js';
import { readHead } from './manifest-head.js';
import { type PullState, writeState } from './pull-state.js';

/** The newest signed head that a folder has seen. */
export const HEAD_FILE = '_manifest-head.jsonl';
/** Entries of one request. */
const PAGE = 10_000;

/** A copy of the signed manifest of a kind, or of parts of it. Each line is checked before it counts. */
export interface ManifestCopy {
  readonly rows: BundleRows;
  /** The entry of a row, read from the copy. */
  entry(index: number): Promise<SealedEntry>;
  /** From the first published block to the last, as the gateway says; null: nothing is published. */
  extent(): BlockRange | null;
  /** Asks for the signed head. Throws MANIFEST_INVALID if it is an earlier one than before, or forked. */
  refresh(signal?: AbortSignal): Promise<void>;
  /**
   * Gets all entries of a range of blocks up to the head. Throws MANIFEST_INVALID if the manifest is changed, forked or
   * cut off, or signed with a key that is not trusted.
   */
  cover(range: BlockRange, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

interface ManifestCopyParts extends Gateway {
  /** Null: in memory. */
  folder: string | null;
  /** Changed as the copy grows. */
  state: PullState;
  keys: ReadonlyMap<string, KeyObject>;
}

/** A copy that is open, for the functions below. */
interface OpenCopy {
  parts: ManifestCopyParts;
  /** For messages. */
  name: string;
  state: PullState;
  rows: BundleRows;
  lines: LineStore;
}

/** Opens the copy of a folder, `_<kind>.jsonl`, or one in memory. Throws DATA_DIR_UNUSABLE, MANIFEST_INVALID. */
export async function openManifestCopy(parts: ManifestCopyParts): Promise<ManifestCopy> {
  const { folder, state } = parts;
  const name = folder === null ? 'The manifest in memory' : path.join(folder, `_${state.kind}.jsonl`);
  const rows = createBundleRows(state.entries);
  const lines = folder === null ? memoryLines() : await openLineFile(name);
  const copy: OpenCopy = { parts, name, state, rows, lines };
  try {
    await readCopy(copy);
  } catch (error) {
    await lines.close(null);
    throw error;
  }
  const inTurn = createTurns();
  return {
    rows,
    entry: (index) => entryAt(copy, index),
    extent() {
      if (state.head === null) return null;
      const { firstBlock, lastBlock } = state.head;
      return { firstBlock, lastBlock };
    },
    refresh: (signal) => inTurn(() => refresh(copy, signal)),
    cover: (range, signal) => inTurn(() => cover(copy, range, signal)),
    close: () => lines.close(folder === null ? null : getOrder(rows)),
  };
}

async function save({ parts: { folder }, state }: OpenCopy): Promise<void> {
  if (folder !== null) await writeState(folder, state);
}

async function entryAt({ rows, lines, name }: OpenCopy, index: number): Promise<SealedEntry> {
  const { offset, length } = rows.at(index);
  const line = Buffer.alloc(length);
  await lines.read(line, offset);
  return parseEntry(line.toString('utf8', 0, length - 1), `Line ${index + 1} of ${name}`);
}

async function find(copy: OpenCopy, sequence: number): Promise<SealedEntry | null> {
  const row = copy.rows.find(sequence);
  return row === undefined ? null : entryAt(copy, row);
}

async function refresh(copy: OpenCopy, signal?: AbortSignal): Promise<void> {
  const { parts, state } = copy;
  const { head, blocks } = await readHead(parts, state.kind, signal);
  const before = state.head;
  if (head === null && before === null) return;
  if (head === null || head.sequence < (before?.sequence ?? 0)) {
    throw lost(state.kind, before?.sequence ?? 0, head?.sequence ?? -1);
  }
  checkLog(head, state);
  const own = head.sequence === before?.sequence ? before : await find(copy, head.sequence);
  if (own !== null && own.hash !== head.hash) throw forked(state.kind, head);
  if (head.sequence === before?.sequence) return;
  const { folder } = parts;
  if (folder !== null) await writeWhole(path.join(folder, HEAD_FILE), `${entryLine(head)}\n`);
  state.log = { network: head.network, chainId: head.chainId };
  state.head = { sequence: head.sequence, hash: head.hash, ...blocks };
  await save(copy);
}

async function cover(copy: OpenCopy, range: BlockRange, signal?: AbortSignal): Promise<void> {
  const { parts, state } = copy;
  const newest = state.head?.sequence ?? -1;
  for (const { after: known, ...part } of missingParts(state.parts, range, newest)) {
    const whole = isWhole([{ ...part, through: known }]);
    for (let after = known; after < newest; ) {
      const query = `kind=${state.kind}&limit=${PAGE}&after=${after}${toBounds(part)}`;
      const read = (answer: Answer): Promise<number> => takePage(copy, answer, { after, whole });
      const through = await parts.http.get(parts.address.api(`manifest?${query}`), read, { signal });
      if (through <= after) throw cutOff(state.kind, after);
      state.parts = withPart(state.parts, part, through);
      await save(copy);
      after = through;
    }
  }
  const own = await find(copy, newest);
  if (own !== null && own.hash !== state.head?.hash) throw forked(state.kind, own);
}

/**
 * Takes a page of what comes after an entry: checks its entries and writes them behind the checked lines, in pieces; one
 * that breaks off does not count. Returns up to which sequence it tells all.
 */
async function takePage(
  copy: OpenCopy,
  { body, headers }: Answer,
  { after, whole }: { after: number; whole: boolean },
): Promise<number> {
  const { state, lines, rows } = copy;
  const verifier = await createPageVerifier(copy, after, whole);
  const where = `the manifest of ${state.kind}`;
  const added = new Map<number, SealedEntry>();
  const addedRows: BundleRow[] = [];
  let [at, offset, last, number] = [state.bytes, state.bytes, after, 0];
  let text = '';
  const flush = async (): Promise<void> => {
    await lines.write(text, at);
    at += Buffer.byteLength(text);
    text = '';
  };
  for await (const line of readLines(body, where)) {
    number += 1;
    const entry = parseEntry(line.slice(0, -1), `Line ${number} of ${where}`);
    checkLog(entry, state);
    verifier.push(entry);
    last = entry.sequence;
    const known = await find(copy, last);
    if (known !== null && known.hash !== entry.hash) throw forked(state.kind, entry);
    if (known !== null) continue;
    const length = Buffer.byteLength(line);
    added.set(last, entry);
    addedRows.push(toRow(entry, offset, length));
    offset += length;
    text += line;
    if (text.length >= PIECE) await flush();
  }
  await flush();
  await checkLinks(copy, added);
  await lines.finish(at);
  Object.assign(state, { bytes: at, entries: state.entries + added.size });
  for (const row of addedRows) rows.add(row);
  const told = Number(/:(\d{1,10})$/.exec(String(headers['packhouse-manifest-next']))?.[1] ?? -1);
  return whole ? last : Math.max(last, told);
}

/** Of the whole manifest no entry is left out, and the first of a page follows the last one of the page before. */
async function createPageVerifier(copy: OpenCopy, after: number, whole: boolean) {
  const { keys } = copy.parts;
  const before = whole ? await find(copy, after) : null;
  if (before === null) return createVerifier(keys, { part: !whole });
  const { network, kind, chainId, hash } = before;
  return createVerifier(keys, { begun: [{ network, kind, chainId, entries: after + 1, hash, keyIds: [] }] });
}

/** Checks that entries are chained to those that the copy had before; the verifier compares neighbours of one page. */
async function checkLinks(copy: OpenCopy, added: ReadonlyMap<number, SealedEntry>): Promise<void> {
  for (const [sequence, entry] of added) {
    const before = added.has(sequence - 1) ? null : await find(copy, sequence - 1);
    if (before !== null && before.hash !== entry.previous) throw forked(copy.state.kind, entry);
    const after = added.has(sequence + 1) ? null : await find(copy, sequence + 1);
    if (after !== null && after.previous !== entry.hash) throw forked(copy.state.kind, after);
  }
}

/** Runs one function after the other. */
function createTurns(): (run: () => Promise<void>) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (run) => {
    const own = last.then(run);
    last = own.catch(() => undefined);
    return own;
  };
}

/** The rows in the order of the log, if they are not. */
function getOrder(rows: BundleRows): Iterable<BundleRow> | null {
  const order = Uint32Array.from({ length: rows.count }, (_, index) => index);
  const sequences = Float64Array.from(order, (index) => rows.at(index).sequence);
  if (sequences.every((sequence, at) => at === 0 || sequence > (sequences[at - 1] as number))) return null;
  order.sort((a, b) => (sequences[a] as number) - (sequences[b] as number));
  return (function* () {
    for (const index of order) yield rows.at(index);
  })();
}

/** Reads what counts of the copy. */
async function readCopy({ lines, name, state, rows }: OpenCopy): Promise<void> {
  if (state.bytes === 0) return;
  let offset = 0;
  for await (const line of readLines(firstBytes(lines, state.bytes), name)) {
    const length = Buffer.byteLength(line);
    rows.add(toRow(JSON.parse(line) as SealedEntry, offset, length));
    offset += length;
  }
  if (offset !== state.bytes || rows.count !== state.entries)
    throw wasChanged(name, rows.count, state.entries);
}

function toRow(
  { sequence, from, to, bytes, version }: SealedEntry,
  offset: number,
  length: number,
): BundleRow {
  return { sequence, firstBlock: from, lastBlock: to, bytes, version, offset, length };
}

function toBounds({ firstBlock, lastBlock }: BlockRange): string {
  const from = firstBlock === 0 ? '' : `&from=${firstBlock}`;
  return lastBlock === Number.MAX_SAFE_INTEGER ? from : `${from}&to=${lastBlock}`;
}

/** The first `bytes` of a store, in one buffer that is filled again and again: new ones would pile up until the next GC. */
async function* firstBytes(lines: LineStore, bytes: number): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.alloc(PIECE);
  for (let at = 0; at < bytes; ) {
    const read = await lines.read(buffer.subarray(0, Math.min(PIECE, bytes - at)), at);
    if (read === 0) return;
    at += read;
    yield buffer.subarray(0, read);
  }
}
