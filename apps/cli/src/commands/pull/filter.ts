import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Kind } from '@packhouse/chain';
import { getMatch } from '@packhouse/client';
import { type AbiColumns, abiColumns, compileAbi, type Match, type Peer } from '@packhouse/rows';
import type { CliIo } from '../../terminal/io.js';
import { usageError } from '../../terminal/parse.js';

/** The options that choose rows; each is a list of texts. */
export interface FilterOptions {
  address?: readonly string[];
  topic?: readonly string[];
  abi?: string;
}

/** Which rows are pulled, and what is added to them. */
export interface RowFilter {
  match: Match;
  decoder?: AbiColumns;
  /** The text of the ABI. */
  abi?: string;
}

/** Larger files are no ABI: the largest contracts have some hundred kilobytes. */
const MAX_ABI_BYTES = 16_777_216;

/**
 * Reads --address (one or several, with commas), --topic (first topics, of which one is enough) and --abi. Throws USAGE
 * and ABI_INVALID.
 */
export async function readFilter(
  io: CliIo,
  { kind, peer }: { kind: Kind; peer: Peer | undefined },
  options: FilterOptions,
): Promise<RowFilter> {
  const { abi, topic = [] } = options;
  if (kind !== 'logs' && (abi !== undefined || topic.length > 0)) {
    throw usageError(
      `${abi === undefined ? '--topic' : '--abi'} is for logs, but --kinds is ${kind}.`,
      'Leave it out, or pull --kinds logs.',
    );
  }
  if (abi !== undefined && peer === 'ethereum-etl') {
    throw usageError(
      '--abi needs columns of topics, which ethereum-etl does not have.',
      'Leave out --schema.',
    );
  }
  const text = abi === undefined ? undefined : await readAbiFile(io, abi);
  const decoder = text === undefined ? null : await compileAbi(text);
  const address = (options.address ?? []).flatMap((text) => text.split(',')).map((text) => text.trim());
  const match = await getMatch({ address, topics: [topic] }, decoder);
  return text === undefined || decoder === null
    ? { match }
    : { match, decoder: abiColumns(decoder, match), abi: text };
}

async function readAbiFile(io: CliIo, file: string): Promise<string> {
  const full = path.resolve(io.cwd, file);
  try {
    if ((await stat(full)).size <= MAX_ABI_BYTES) return await readFile(full, 'utf8');
  } catch (cause) {
    throw usageError(`Cannot read ${file} of --abi: ${(cause as Error).message}.`, 'Check its name.', cause);
  }
  throw usageError(`${file} of --abi has more than ${MAX_ABI_BYTES} bytes.`, 'Check its name.');
}
