import type { BlockRange } from '@packhouse/chain';
import type { Schema } from '@packhouse/rows';

/** How files of rows are named. */
interface FileNames {
  of(blocks: BlockRange): string;
  /** The form of all such names. */
  form: RegExp;
}

/** Our names, or those of the program whose columns the rows have; their blocks have so many digits that files sort by them. */
export function fileNames({ kind, peer }: Schema, network: string, extension: string): FileNames {
  const [before, between, digits] = getParts(kind, peer, network);
  const start = before.replace(/[^a-z0-9_-]/gi, '\\$&');
  const block = (number: number): string => String(number).padStart(digits, '0');
  return {
    of: ({ firstBlock, lastBlock }) =>
      `${before}${block(firstBlock)}${between}${block(lastBlock)}.${extension}`,
    form: new RegExp(`^${start}\\d+${between}\\d+\\.${extension}$`),
  };
}

function getParts(kind: string, peer: Schema['peer'], network: string): [string, string, number] {
  if (peer === 'cryo') return [`${network}__${kind}__`, '_to_', 8];
  return peer === undefined ? [`${kind}-`, '-', 10] : [`${kind}_`, '_', 8];
}
