import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { PackhouseError } from '@packhouse/runtime';
import { countBlocks, type ListedFile, toKey, toRange } from './list.js';

const unpack = promisify(gunzip);
const pack = promisify(gzip);

/** The lines of one file of recordings. */
export interface RecordingFile {
  get(key: string): string | undefined;
  set(key: string, line: string): void;
  delete(key: string): void;
  /** Writes the file if a line was changed: lines of the list in its order, then the others. */
  save(): Promise<void>;
}

/** Opens a file of a folder, which may not exist yet. Throws OUTPUT_FAILED. */
export async function openRecordingFile(folder: string, listed: ListedFile): Promise<RecordingFile> {
  const file = path.join(folder, `${listed.file}.jsonl.gz`);
  const lines = await readLines(file);
  let isChanged = false;
  return {
    get: (key) => lines.get(key),
    set(key, line) {
      isChanged ||= lines.get(key) !== line;
      lines.set(key, line);
    },
    delete(key) {
      isChanged = lines.delete(key) || isChanged;
    },
    async save() {
      if (!isChanged) return;
      // Lines may change while it is written.
      isChanged = false;
      await replaceFile(file, sortLines(listed, lines));
    },
  };
}

/** Throws OUTPUT_FAILED unless files can be written there. */
export async function openFolder(folder: string): Promise<void> {
  const probe = path.join(folder, '.record.part');
  try {
    await mkdir(folder, { recursive: true });
    await (await open(probe, 'w')).close();
    await rm(probe);
  } catch (cause) {
    throw outputFailed(`The folder ${folder} cannot be written`, cause);
  }
}

async function readLines(file: string): Promise<Map<string, string>> {
  let packed: Buffer;
  try {
    packed = await readFile(file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw outputFailed(`The file ${file} cannot be read`, cause);
  }
  try {
    const text = (await unpack(packed)).toString('utf8');
    const found = text.split('\n').filter((line) => line !== '');
    return new Map(
      found.map((line) => {
        const { net, number } = JSON.parse(line) as { net?: string; number: number };
        return [toKey(net, number), line];
      }),
    );
  } catch (cause) {
    throw outputFailed(`The file ${file} is no recording`, cause);
  }
}

function sortLines({ net, rows }: ListedFile, lines: ReadonlyMap<string, string>): string[] {
  const rest = new Map(lines);
  const sorted: string[] = [];
  for (const row of rows) {
    const { from } = toRange(row);
    for (let at = 0; at < countBlocks(row); at++) {
      const key = toKey(net ? row.network : undefined, from + at);
      const line = rest.get(key);
      if (line !== undefined) sorted.push(line);
      rest.delete(key);
    }
  }
  return [...sorted, ...rest.values()];
}

/** By another name first: a program that is killed leaves the file as it was. */
async function replaceFile(file: string, lines: readonly string[]): Promise<void> {
  const part = `${file}.part`;
  const text = lines.map((line) => `${line}\n`).join('');
  try {
    const handle = await open(part, 'w');
    try {
      await handle.writeFile(await pack(text, { level: 9 }));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(part, file);
  } catch (cause) {
    throw outputFailed(`The file ${file} cannot be written`, cause);
  }
}

function outputFailed(what: string, cause: unknown): PackhouseError {
  const { code } = cause as NodeJS.ErrnoException;
  return new PackhouseError({
    code: 'OUTPUT_FAILED',
    message: `${what}${code === undefined ? '' : ` (${code})`}.`,
    hint: 'Give another folder with --out.',
    cause,
  });
}
