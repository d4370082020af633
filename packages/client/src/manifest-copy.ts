import type { KeyObject } from 'node:crypto';
import { constants, type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { checkSeal, createVerifier, entryLine, parseEntry, type SealedEntry } from '@packhouse/manifest';
import { PackhouseError } from '@packhouse/runtime';
import { type BundleRow, type BundleRows, createBundleRows } from './bundle-rows.js';
import type { Gateway } from './http.js';
import { type PullState, writeState } from './pull-state.js';
import { readLines } from './read-lines.js';
import { orNotWritable, writeWhole } from './whole-file.js';

/** Entries of one request. */
const PAGE = 10_000;
/** Signed heads of all kinds. */
const MAX_HEAD_BYTES = 1_048_576;
/** Bytes read or written at once: longer strings than this outlive many collections of garbage. */
const PIECE = 65_536;

/** The copy of a signed manifest in a folder. Each line is checked before it counts. */
export interface ManifestCopy {
  readonly rows: BundleRows;
  /** The entry of a row, read from the copy. */
  entry(index: number): Promise<SealedEntry>;
  /**
   * Asks the gateway for its signed head, and for the entries that the copy does not have. Throws MANIFEST_INVALID if
   * the manifest is changed, forked, cut off, or signed with a key that is not trusted.
   */
  update(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

interface ManifestCopyParts extends Gateway {
  folder: string;
  /** Changed as the copy grows. */
  state: PullState;
  keys: ReadonlyMap<string, KeyObject>;
}

/** Opens the copy of a folder, `_<kind>.jsonl`. Throws DATA_DIR_UNUSABLE, MANIFEST_INVALID. */
export async function openManifestCopy(parts: ManifestCopyParts): Promise<ManifestCopy> {
  const { folder, state, address, http, keys } = parts;
  const name = path.join(folder, `_${state.kind}.jsonl`);
  const rows = createBundleRows(state.log?.entries);
  // Not emptied: it is longer than what counts if a run was killed, and what follows is overwritten.
  const file = await open(name, constants.O_RDWR | constants.O_CREAT).catch(orNotWritable(name));
  try {
    await readCopy(file, name, state, rows);
  } catch (error) {
    await file.close();
    throw error;
  }

  /** Takes a page: checks its entries and writes them behind the checked part, in pieces; one that breaks off does not count. */
  const takePage = async (body: AsyncIterable<Uint8Array>): Promise<void> => {
    const verifier = createVerifier(keys, { begun: state.log === null ? [] : [state.log] });
    const where = `the manifest of ${state.kind}`;
    const added: BundleRow[] = [];
    let at = state.bytes;
    let offset = state.bytes;
    let text = '';
    const flush = async (): Promise<void> => {
      const data = Buffer.from(text);
      await file.write(data, 0, data.length, at).catch(orNotWritable(name));
      at += data.length;
      text = '';
    };
    for await (const line of readLines(body, where)) {
      const number = (state.log?.entries ?? 0) + added.length;
      const entry = parseEntry(line.slice(0, -1), `Entry ${number} of ${where}`);
      checkLog(entry, number, state);
      verifier.push(entry);
      const length = Buffer.byteLength(line);
      added.push(toRow(entry, offset, length));
      offset += length;
      text += line;
      if (text.length >= PIECE) await flush();
    }
    await flush();
    if (added.length === 0) throw cutOff(state);
    await file.truncate(at);
    await file.sync();
    Object.assign(state, { log: verifier.logs()[0] ?? null, bytes: at });
    await writeState(folder, state);
    for (const row of added) rows.add(row);
  };

  const entryAt = async (index: number): Promise<SealedEntry> => {
    const { offset, length } = rows.at(index);
    const line = Buffer.alloc(length);
    await file.read(line, 0, length, offset);
    return parseEntry(line.toString('utf8', 0, length - 1), `Line ${index + 1} of ${name}`);
  };

  return {
    rows,
    entry: entryAt,
    async update(signal) {
      const head = await readHead(parts, signal);
      const entries = head === null ? 0 : head.sequence + 1;
      if ((state.log?.entries ?? 0) > entries) throw lost(state, entries);
      while ((state.log?.entries ?? 0) < entries) {
        const after = (state.log?.entries ?? 0) - 1;
        const url = address.api(`manifest?kind=${state.kind}&limit=${PAGE}&after=${after}`);
        await http.get(url, ({ body }) => takePage(body), { signal });
      }
      if (head === null) return;
      const own = state.log?.entries === entries ? state.log : await entryAt(head.sequence);
      if (own.hash !== head.hash) throw forked(state, head);
      await writeWhole(path.join(folder, '_manifest-head.jsonl'), `${entryLine(head)}\n`);
    },
    close: () => file.close(),
  };
}

/** Reads what counts of the copy. */
async function readCopy(file: FileHandle, name: string, state: PullState, rows: BundleRows): Promise<void> {
  if (state.bytes === 0) return;
  let offset = 0;
  for await (const line of readLines(firstBytes(file, state.bytes), name)) {
    const length = Buffer.byteLength(line);
    rows.add(toRow(JSON.parse(line) as SealedEntry, offset, length));
    offset += length;
  }
  if (offset === state.bytes && rows.count === state.log?.entries) return;
  throw new PackhouseError({
    code: 'MANIFEST_INVALID',
    message: `${name} was changed: it has ${rows.count} entries, expected ${state.log?.entries}.`,
    hint: `Delete it and _packhouse-pull.json beside it: the next run downloads it again, and keeps the files that are there.`,
  });
}

function toRow({ from, to, bytes, version }: SealedEntry, offset: number, length: number): BundleRow {
  return { firstBlock: from, lastBlock: to, bytes, version, offset, length };
}

/** Throws MANIFEST_INVALID if an entry is of another kind or network. */
function checkLog({ kind, network }: SealedEntry, number: number, state: PullState): void {
  if (kind === state.kind && network === (state.log?.network ?? network)) return;
  throw new PackhouseError({
    code: 'MANIFEST_INVALID',
    message: `Entry ${number} of the manifest of ${state.kind} is of ${kind} of ${network}, expected ${state.kind} of ${state.log?.network ?? 'any network'}.`,
  });
}

/** The first `bytes` of a file, in one buffer that is filled again and again: new ones would pile up until the next GC. */
async function* firstBytes(file: FileHandle, bytes: number): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.alloc(PIECE);
  for (let at = 0; at < bytes; ) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(PIECE, bytes - at), at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** The newest signed entry of the kind; null: nothing is published. */
async function readHead(
  { state, address, http, keys }: ManifestCopyParts,
  signal?: AbortSignal,
): Promise<SealedEntry | null> {
  const text = await http.text(address.api('manifest/head'), MAX_HEAD_BYTES, { signal });
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const head = parseEntry(line, 'A signed head');
    if (head.kind !== state.kind) continue;
    checkSeal(head, keys);
    return head;
  }
  return null;
}

function cutOff({ kind, log }: PullState): PackhouseError {
  return new PackhouseError({
    code: 'MANIFEST_INVALID',
    message: `The manifest of ${kind} is cut off: the gateway sends no entry after the first ${log?.entries ?? 0}, and its signed head is a later one.`,
    hint: 'Run it again; if it stays so, ask its publisher.',
  });
}

function lost({ kind, log }: PullState, entries: number): PackhouseError {
  return new PackhouseError({
    code: 'MANIFEST_INVALID',
    message: `The manifest of ${kind} became shorter: the folder has ${log?.entries} signed entries, and the gateway has ${entries}.`,
    hint: 'Ask its publisher; the files in the folder are as they were published.',
  });
}

function forked({ kind }: PullState, { sequence, publishedAt }: SealedEntry): PackhouseError {
  return new PackhouseError({
    code: 'MANIFEST_INVALID',
    message: `The manifest of ${kind} is forked: its entry ${sequence} is another one than the head signed on ${publishedAt}.`,
    hint: 'Ask its publisher which of the two is right.',
  });
}
