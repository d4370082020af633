import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Kind } from '@packhouse/chain';
import type { SinkTarget } from '@packhouse/client';
import { PEERS, type Peer } from '@packhouse/rows';
import { parseCount, usageError } from '../../terminal/parse.js';

/** A target of rows, as the command line names it. */
export interface RowTarget {
  /** As it is shown. */
  label: string;
  /** The folder of files whose rows are being read, relative to the working directory; null: that of `folder`, or a temporary one. */
  work: string | null;
  /** Whether the files stay there. */
  keep: boolean;
  partition: number | undefined;
  /** Whether addresses, hashes, topics and data are bytes, not text. */
  bytes?: boolean;
  /** The program whose columns they have; absent: packhouse. */
  peer?: Peer | undefined;
  /** Whether they are written as text. */
  text: boolean;
  /** The folder of rows, if they are files. */
  folder: string | null;
  sink(resolve: (file: string) => string, write: (text: string) => Promise<void>): SinkTarget;
}

interface TargetOptions {
  out: string | undefined;
  partition?: string;
  mirror: string | undefined;
  schema: string;
  bytes?: string;
  network: string;
  kind: Kind;
  /** Whether it is the only kind. */
  isOne: boolean;
}

const FORMATS = ['mirror', 'parquet', 'duckdb', 'jsonl', 'csv'] as const;

/** Reads --format, --out, --partition, --mirror, --schema and --bytes; null: the target is a mirror. Throws USAGE. */
export function readTarget(text: string, options: TargetOptions): RowTarget | null {
  const peer = readPeer(options.schema);
  const found = getTarget(text, options);
  if (found === null && peer !== undefined) {
    throw usageError('--schema needs a format of rows.', 'Add --format parquet.');
  }
  const target = found === null ? null : { ...found, peer };
  // As cryo has them.
  const { bytes = peer === 'cryo' && target?.text === false ? 'blob' : 'text' } = options;
  if (bytes === 'text') return target;
  if (bytes !== 'blob') throw usageError(`--bytes takes text or blob, got "${bytes.slice(0, 60)}".`);
  if (target === null || TEXT_FORMATS.has(text)) {
    throw usageError(
      `--bytes blob is not available in the format ${text}.`,
      'Use --format parquet, duckdb or postgres://….',
    );
  }
  return { ...target, bytes: true };
}

function readPeer(name: string): Peer | undefined {
  const peer = PEERS.find((each) => each === name);
  if (peer !== undefined || name === 'packhouse') return peer;
  throw usageError(
    `There is no schema "${name.slice(0, 60)}".`,
    `The schemas are packhouse, ${PEERS.join(' and ')}.`,
  );
}

const TEXT_FORMATS: ReadonlySet<string> = new Set(['jsonl', 'csv']);

function getTarget(text: string, options: TargetOptions): RowTarget | null {
  if (/^postgres(ql)?:/.test(text)) return postgresTarget(text, options);
  const format = FORMATS.find((each) => each === text);
  if (format === undefined) {
    throw usageError(
      `There is no format "${text.slice(0, 60)}".`,
      `The formats are ${FORMATS.join(', ')} and, with a table, postgres://me@localhost/chain?table=logs.`,
    );
  }
  const { network, kind, mirror } = options;
  const { out = `${network}-${kind}` } = options;
  if (format === 'mirror') {
    const wrong = mirror === undefined ? options.partition && '--partition' : '--mirror';
    if (wrong) throw usageError(`${wrong} needs a format of rows.`, 'Add --format jsonl.');
    return null;
  }
  if (format === 'duckdb') return duckDbTarget(options);
  const partition = readPartition(options.partition);
  const keep = mirror !== undefined;
  if (out === '-' && format === 'parquet') {
    throw usageError('Parquet cannot be written to stdout.', 'Give a folder with --out.');
  }
  if (out === '-' && format !== 'parquet') {
    if (partition !== undefined)
      throw usageError('Rows on stdout cannot be partitioned.', 'Leave out --partition.');
    return {
      label: 'stdout',
      work: mirror ?? null,
      keep,
      partition,
      text: true,
      folder: null,
      sink: (_, write) => ({ format, write }),
    };
  }
  if (path.extname(out) === `.${format}`) {
    throw usageError(
      `--out ${out} looks like a file, but ${format} is written as files in a folder.`,
      format === 'parquet' ? 'Give a folder.' : `Give a folder, or write one file with --out - > ${out}.`,
    );
  }
  return {
    label: out,
    work: mirror ?? null,
    keep,
    partition,
    text: TEXT_FORMATS.has(format),
    folder: out,
    sink: (resolve) => ({ format, folder: resolve(out), partition }),
  };
}

function duckDbTarget({ out, partition, mirror, network, kind, isOne }: TargetOptions): RowTarget {
  if (out === '-' || partition !== undefined) {
    throw usageError(
      'A DuckDB file cannot be written to stdout or partitioned.',
      'Give a file, for example --out usdt.duckdb.',
    );
  }
  const file = out ?? `${isOne ? `${network}-${kind}` : network}.duckdb`;
  const table = kind;
  return {
    label: file,
    work: mirror ?? path.join(`${file}.packhouse`, table),
    keep: mirror !== undefined,
    partition: undefined,
    text: false,
    folder: null,
    sink: (resolve) => ({ format: 'duckdb', file: resolve(file), table }),
  };
}

function postgresTarget(
  text: string,
  { out, partition, mirror, network, kind, isOne }: TargetOptions,
): RowTarget {
  if (!URL.canParse(text)) {
    throw usageError(
      '--format has an invalid Postgres URL.',
      'For example postgres://me@localhost/chain?table=logs.',
    );
  }
  const wrong = out === undefined ? partition && '--partition' : '--out';
  if (wrong) throw usageError(`${wrong} is for files, but the target is a table.`, 'Leave it out.');
  const url = new URL(text);
  const named = url.searchParams.get('table');
  if (named !== null && !isOne) {
    throw usageError(
      '--format names one table for several kinds.',
      'Leave out ?table=: each kind has its own.',
    );
  }
  const table = named ?? kind;
  if (table === '') throw usageError('The table name of --format is empty.', 'For example ?table=logs.');
  url.searchParams.delete('table');
  return {
    // Without the address: it may hold a password.
    label: `the table ${table}`,
    // Of this table alone: pulls into several tables may run at a time.
    work: mirror ?? path.join(`${network}-${kind}.packhouse`, nameOf(url, table)),
    keep: mirror !== undefined,
    partition: undefined,
    text: false,
    folder: null,
    sink: () => ({ format: 'postgres', url: url.href, table }),
  };
}

/** A name for the folder of a table, without the password. */
function nameOf({ host, pathname }: URL, table: string): string {
  const digits = createHash('sha256').update(`${host}${pathname}`).digest('hex');
  return `${table.replace(/[^\w.-]/g, '_')}-${digits.slice(0, 8)}`;
}

function readPartition(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseCount(text, '--partition');
}
