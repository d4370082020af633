import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PackhouseError } from '@packhouse/runtime';

const FILE = 'chain.json';
const VERSION = 1;

/** The facts needed to mine the same chain again. */
export interface ChainFile {
  version: typeof VERSION;
  historyBlocks: number;
  /** The number of blocks, written before the last one is mined, so that the head never goes back. */
  blocks: number;
  /** A block that was mined: a chain that differs is noticed by its hash. */
  checkpoint: { number: number; hash: string };
}

/** Reads the chain file of a folder; undefined if there is none. Throws DATA_DIR_UNUSABLE or DATA_DIR_NEWER. */
export async function readChainFile(directory: string): Promise<ChainFile | undefined> {
  const file = path.join(directory, FILE);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unusable(`${file} cannot be read: ${(cause as Error).message}.`, cause);
  }
  let content: Partial<ChainFile>;
  try {
    content = JSON.parse(text) as Partial<ChainFile>;
  } catch (cause) {
    throw unusable(`${file} is not JSON.`, cause);
  }
  if (content.version !== undefined && content.version > VERSION) {
    throw new PackhouseError({
      code: 'DATA_DIR_NEWER',
      message: `${file} was written by a newer version of Packhouse (format ${content.version}, known: ${VERSION}).`,
      hint: 'Update Packhouse, or use another data folder.',
    });
  }
  if (!isChainFile(content)) throw unusable(`${file} lacks the fields of a chain file.`);
  return content;
}

/** Replaces the chain file atomically. Throws DATA_DIR_UNUSABLE. */
export async function writeChainFile(directory: string, content: Omit<ChainFile, 'version'>): Promise<void> {
  const file = path.join(directory, FILE);
  try {
    await mkdir(directory, { recursive: true });
    await writeFile(`${file}.new`, `${JSON.stringify({ version: VERSION, ...content })}\n`);
    await rename(`${file}.new`, file);
  } catch (cause) {
    throw unusable(`${file} cannot be written: ${(cause as Error).message}.`, cause);
  }
}

function isChainFile(content: Partial<ChainFile>): content is ChainFile {
  return (
    content.version === VERSION &&
    Number.isInteger(content.historyBlocks) &&
    Number.isInteger(content.blocks) &&
    Number.isInteger(content.checkpoint?.number) &&
    typeof content.checkpoint?.hash === 'string'
  );
}

function unusable(message: string, cause?: unknown): PackhouseError {
  return new PackhouseError({
    code: 'DATA_DIR_UNUSABLE',
    message: `The demo chain cannot use its folder: ${message}`,
    hint: 'Check its permissions and free space, or remove the data folder to start a new demo chain.',
    cause,
  });
}
