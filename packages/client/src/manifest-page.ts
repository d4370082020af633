import type { KeyObject } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { type CheckedLog, createVerifier, parseEntry } from '@packhouse/manifest';
import { PackhouseError } from '@packhouse/runtime';
import type { BundleRow } from './bundle-rows.js';
import type { PullState } from './pull-state.js';
import { readLines } from './read-lines.js';
import { notWritable } from './whole-file.js';

/** Text that is written at once: longer strings than this outlive many collections of garbage. */
const PIECE = 65_536;

/** What a page added behind the checked part of a copy. */
interface ManifestPage {
  /** The log with the page; null: it has no entry. */
  log: CheckedLog | null;
  /** Length of the copy with the page. */
  bytes: number;
  rows: BundleRow[];
}

/**
 * Checks the entries of an answer and writes them behind the checked part of the copy, in pieces. Does not change the
 * state, so that a page which breaks off is taken again. Throws MANIFEST_INVALID, DISK_FULL, DATA_DIR_UNUSABLE.
 */
export async function writePage(
  body: AsyncIterable<Uint8Array>,
  {
    file,
    name,
    state,
    keys,
  }: { file: FileHandle; name: string; state: PullState; keys: ReadonlyMap<string, KeyObject> },
): Promise<ManifestPage> {
  const verifier = createVerifier(keys, { begun: state.log === null ? [] : [state.log] });
  const where = `the manifest of ${state.kind}`;
  const rows: BundleRow[] = [];
  let at = state.bytes;
  let offset = state.bytes;
  let text = '';
  const flush = async (): Promise<void> => {
    const data = Buffer.from(text);
    await file.write(data, 0, data.length, at).catch((error: unknown) => {
      throw notWritable(name, error);
    });
    at += data.length;
    text = '';
  };
  for await (const line of readLines(body, where)) {
    const number = (state.log?.entries ?? 0) + rows.length;
    const entry = parseEntry(line.slice(0, -1), `Entry ${number} of ${where}`);
    const other = state.log !== null && entry.network !== state.log.network;
    if (entry.kind !== state.kind || other) {
      throw new PackhouseError({
        code: 'MANIFEST_INVALID',
        message: `Entry ${number} of ${where} is of ${entry.kind} of ${entry.network}, expected ${state.kind} of ${state.log?.network ?? 'any network'}.`,
      });
    }
    verifier.push(entry);
    const { start, end, bytes, version } = entry;
    const length = Buffer.byteLength(line);
    rows.push({ start, end, bytes, version, offset, length });
    offset += length;
    text += line;
    if (text.length >= PIECE) await flush();
  }
  await flush();
  return { log: verifier.logs()[0] ?? null, bytes: at, rows };
}
