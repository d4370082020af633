import path from 'node:path';
import type { SinkTarget } from '@packhouse/client';
import { PackhouseError } from '@packhouse/runtime';

/** A target of rows, as the command line names it. */
export interface RowTarget {
  /** As it is shown. */
  label: string;
  /** The folder of files whose rows are being read, relative to the working directory; null: a temporary one. */
  work: string | null;
  /** Whether the files stay there. */
  keep: boolean;
  partition: number | undefined;
  /** Whether addresses, hashes, topics and data are bytes, not text. */
  bytes?: boolean;
  /** A folder that one pull may work in at a time. */
  folder: string | null;
  sink(resolve: (file: string) => string, write: (text: string) => Promise<void>): SinkTarget;
}

interface TargetOptions {
  out?: string;
  partition?: string;
  mirror?: string;
  bytes?: string;
  /** `<network>-<kind>`. */
  name: string;
}

const FORMATS = ['mirror', 'parquet', 'duckdb', 'jsonl', 'csv'] as const;

/** Reads --to, --out, --partition and --mirror; null: the target is a mirror. Throws USAGE. */
export function readTarget(text: string, options: TargetOptions): RowTarget | null {
  const target = targetOf(text, options);
  const { bytes = 'text' } = options;
  if (bytes === 'text') return target;
  if (bytes !== 'blob')
    throw usage(`--bytes takes text or blob, got "${bytes.slice(0, 60)}".`, 'Leave it out for text.');
  if (target === null || TEXT_FORMATS.has(text)) {
    throw usage(
      `--bytes blob is for tables, and ${text} has texts only.`,
      'Add --to parquet, duckdb or postgres://….',
    );
  }
  return { ...target, bytes: true };
}

const TEXT_FORMATS: ReadonlySet<string> = new Set(['jsonl', 'csv']);

function targetOf(text: string, options: TargetOptions): RowTarget | null {
  if (/^postgres(ql)?:/.test(text)) return postgresTarget(text, options);
  const format = FORMATS.find((each) => each === text);
  if (format === undefined) {
    throw usage(
      `There is no format "${text.slice(0, 60)}" for --to.`,
      `The formats are ${FORMATS.join(', ')} and postgres://…/database with ?table=logs; or give a block.`,
    );
  }
  const { out = options.name, mirror } = options;
  if (format === 'mirror') {
    const wrong = mirror === undefined ? options.partition && '--partition' : '--mirror';
    if (wrong) throw usage(`${wrong} belongs to rows, and --to names no format of rows.`, 'Add --to jsonl.');
    return null;
  }
  if (format === 'duckdb') return duckDbTarget(options);
  const partition = readPartition(options.partition);
  const keep = mirror !== undefined;
  if (out === '-' && format === 'parquet') {
    throw usage('Parquet is written as files in a folder, not to stdout.', 'Give a folder with --out.');
  }
  if (out === '-' && format !== 'parquet') {
    if (partition !== undefined) throw usage('Rows on stdout have no partitions.', 'Leave out --partition.');
    return {
      ...{ label: 'stdout', work: mirror ?? null, keep, partition, folder: null },
      sink: (_, write) => ({ format, write }),
    };
  }
  if (path.extname(out) === `.${format}`) {
    throw usage(
      `--out ${out} looks like a file, and ${format} is written as files in a folder.`,
      format === 'parquet' ? 'Give a folder.' : `Give a folder, or write one file with --out - > ${out}.`,
    );
  }
  return {
    ...{ label: out, work: mirror ?? path.join(out, '.packhouse'), keep, partition, folder: out },
    sink: (resolve) => ({ format, folder: resolve(out), partition }),
  };
}

function duckDbTarget({ out, partition, mirror, name }: TargetOptions): RowTarget {
  if (out === '-' || partition !== undefined) {
    throw usage(
      'A DuckDB file goes to no stdout and has no partitions.',
      'Give a file with --out usdt.duckdb.',
    );
  }
  const file = out ?? `${name}.duckdb`;
  const table = kindOf(name);
  return {
    ...{ label: file, work: mirror ?? path.join(`${file}.packhouse`, table), keep: mirror !== undefined },
    ...{ partition: undefined, folder: null },
    sink: (resolve) => ({ format: 'duckdb', file: resolve(file), table }),
  };
}

function kindOf(name: string): string {
  return name.slice(name.lastIndexOf('-') + 1);
}

function postgresTarget(text: string, { out, partition, mirror, name }: TargetOptions): RowTarget {
  if (!URL.canParse(text)) {
    throw usage(
      '--to has a malformed address of Postgres.',
      'For example postgres://me@localhost/chain?table=logs.',
    );
  }
  const wrong = out === undefined ? partition && '--partition' : '--out';
  if (wrong) throw usage(`${wrong} is for files, and the target is a table.`, 'Leave it out.');
  const url = new URL(text);
  const table = url.searchParams.get('table') ?? kindOf(name);
  if (table === '') throw usage('--to names no table behind table=.', 'For example ?table=logs.');
  url.searchParams.delete('table');
  return {
    // Without the address: it may hold a password.
    ...{ label: `the table ${table}`, work: mirror ?? `${name}.packhouse`, keep: mirror !== undefined },
    ...{ partition: undefined, folder: null },
    sink: () => ({ format: 'postgres', url: url.href, table }),
  };
}

function readPartition(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const blocks = Number(text.replaceAll('_', ''));
  if (Number.isSafeInteger(blocks) && blocks > 0) return blocks;
  throw usage(`--partition takes a number of blocks, got "${text.slice(0, 60)}".`, 'For example 100000.');
}

function usage(message: string, hint: string): PackhouseError {
  return new PackhouseError({ code: 'USAGE', message, hint });
}
