import { readBundle } from '@packhouse/bundle';
import type { Kind } from '@packhouse/chain';
import type { NewStep } from '@packhouse/manifest';
import type { CodedBatch, Column, JsonRecord } from '@packhouse/rows';
import { type RowSource, readRows } from '@packhouse/rows';
import { isPackhouseError, PackhouseError } from '@packhouse/runtime';
import { askForLink, checkLink } from '../fetch/download-file.js';
import { readBody } from '../fetch/http.js';
import { checkHeader } from './check-header.js';
import { type FollowedTable, type FollowOptions, matchOf } from './read-feed.js';

/** Bytes of the file of one block; the largest of mainnet, of traces, have some ten megabytes. */
const MAX_BYTES = 268_435_456;

/** What reading a new block needs. */
interface NewBlockParts extends Pick<FollowOptions, 'address' | 'http' | 'match'> {
  chainId: number;
  signal: AbortSignal;
}

/**
 * The rows of a new block, whose records all must have its hash. Null: its file is gone (410), since the block was
 * abandoned. Throws FEED_INVALID, BUNDLE_INVALID, and as `Http.get`.
 */
export async function readNewBlock(parts: NewBlockParts, step: NewStep): Promise<FollowedTable[] | null> {
  const { address, chainId, match } = parts;
  const files = new Map<Kind, Promise<Buffer>>();
  const load = (kind: Kind, link: string): Promise<Buffer> => {
    const file = files.get(kind) ?? download(parts, link);
    file.catch(() => undefined);
    files.set(kind, file);
    return file;
  };
  for (const [kind, link] of Object.entries(step.files)) {
    load(kind as Kind, checkLink(address, link, `what is new in block ${step.block}`));
  }
  /** The records of another kind of this block, of which rows have columns; null: it has no file, or not any more. */
  const beside = async (kind: Kind): Promise<JsonRecord[] | null> => {
    const bytes = await (files.get(kind) ??
      orNull(
        askForLink(parts, kind, step.block, parts.signal).then((link) => {
          const { pathname, searchParams } = new URL(link);
          if (!pathname.endsWith(`/${step.block}-${step.block}.json.gz`)) return null;
          const hash = searchParams.get('hash') ?? step.hash;
          if (hash !== step.hash) throw contradicts(step, kind, hash, step.hash, true);
          return load(kind, link);
        }),
      ));
    return bytes === null ? null : recordsOf(bytes, kind, step);
  };
  let time: Promise<number[] | null> | undefined;
  const times = (): Promise<number[] | null> => {
    time ??= beside('blocks').then((records) => (records === null ? null : [Number(records[0]?.timestamp)]));
    return time;
  };
  const tables: FollowedTable[] = [];
  try {
    if (step.files.blocks !== undefined) {
      const [block] = (await beside('blocks')) as [JsonRecord];
      await checkHeader(block, chainId);
    }
    for (const kind of Object.keys(step.files) as Kind[]) {
      const bytes = await (files.get(kind) as Promise<Buffer>);
      const source = { bytes, kind, chainId, fileFrom: step.block, times };
      const receipts = async (): Promise<Buffer | null> => {
        const records = await beside('receipts');
        return records === null ? null : Buffer.from(JSON.stringify(records), 'latin1');
      };
      tables.push(
        await toTable(
          { ...source, ...(kind === 'transactions' && { receipts }) },
          matchOf(kind, match),
          step,
        ),
      );
    }
  } catch (error) {
    if (isPackhouseError(error, 'DOWNLOAD_FAILED') && error.data.status === 410) return null;
    throw error;
  }
  return tables;
}

/** Null if there is no such file, or not any more. */
async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  return asked.catch((error: unknown) => {
    const status = isPackhouseError(error, 'DOWNLOAD_FAILED') ? error.data.status : undefined;
    if (status === 404 || status === 410) return null;
    throw error;
  });
}

function download({ http, signal }: NewBlockParts, link: string): Promise<Buffer> {
  const tooLong = (): PackhouseError =>
    new PackhouseError({
      code: 'BUNDLE_INVALID',
      message: `The file ${link} has more than ${MAX_BYTES} bytes, which is more than one block can have.`,
    });
  return http.get(link, ({ body }) => readBody(body, MAX_BYTES, tooLong), { bearer: true, signal });
}

/** The wanted rows of a file, after all its records are checked. */
async function toTable(
  source: Extract<RowSource, { bytes: Uint8Array }>,
  match: RowSource['match'],
  step: NewStep,
): Promise<FollowedTable> {
  const { kind } = source;
  const all: CodedBatch[] = [];
  let rows = 0;
  for await (const batch of readRows(source)) {
    checkColumn(step, kind, batch.columns.block_number, step.block);
    checkColumn(step, kind, batch.columns.block_hash, step.hash, true);
    if (kind === 'blocks') checkColumn(step, kind, batch.columns.parent_hash, step.parent);
    all.push(batch);
    rows += batch.rows;
  }
  if (kind === 'blocks' && rows !== 1) throw contradicts(step, kind, `${rows} blocks`, '1 block');
  if (Object.keys(match ?? {}).length === 0) return { kind, rows, batches: all };
  const batches: CodedBatch[] = [];
  for await (const batch of readRows({ ...source, match: match ?? {} })) batches.push(batch);
  return { kind, rows: batches.reduce((sum, batch) => sum + batch.rows, 0), batches };
}

function checkColumn(
  step: NewStep,
  kind: Kind,
  column: Column | undefined,
  expected: Column[number],
  isHash = false,
): void {
  const other = column?.find((value) => value !== expected);
  if (other !== undefined) throw contradicts(step, kind, String(other), String(expected), isHash);
}

/** The records of a file that is read beside that of a kind. Throws FEED_INVALID. */
async function recordsOf(bytes: Buffer, kind: Kind, step: NewStep): Promise<JsonRecord[]> {
  const { records } = await readBundle(bytes);
  const [text] = records;
  if (records.length !== 1 || text === undefined) {
    throw contradicts(step, kind, `${records.length} blocks`, '1 block');
  }
  const value = JSON.parse(text.toString('latin1')) as JsonRecord | JsonRecord[];
  const list = Array.isArray(value) ? value : [value];
  for (const record of list) {
    const hash = kind === 'blocks' ? record.hash : record.blockHash;
    if (hash !== step.hash) throw contradicts(step, kind, String(hash), step.hash, true);
  }
  return list;
}

/** Whether a file has another block of the number: one that took the place of the block since the feed was read, or a lie. */
export function isOtherBlock(error: unknown): error is PackhouseError {
  return isPackhouseError(error, 'FEED_INVALID') && error.data.otherBlock === true;
}

function contradicts(
  { block }: NewStep,
  kind: Kind,
  got: string,
  expected: string,
  otherBlock = false,
): PackhouseError {
  return new PackhouseError({
    code: 'FEED_INVALID',
    message: `The file of ${kind} of the new block ${block} contradicts the feed: it has ${got}, expected ${expected}.`,
    hint: 'Nothing of the block was delivered. Run it again; if it fails again, tell the operator of the gateway.',
    data: { block, kind, otherBlock },
  });
}
