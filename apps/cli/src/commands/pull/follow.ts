import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Kind } from '@packhouse/chain';
import {
  type Bound,
  createClient,
  createPostgresSink,
  createRowSink,
  type FollowSink,
  followInto,
  gatewayAddress,
  type SinkTarget,
  stateFolder,
} from '@packhouse/client';
import { toSchema } from '@packhouse/rows';
import { takeFolder } from '../../installation/directory-lock.js';
import type { CliIo } from '../../terminal/io.js';
import { usageError } from '../../terminal/parse.js';
import type { RowFilter } from './filter.js';
import { createFollowLines, type FollowLines } from './follow-lines.js';
import type { RowTarget } from './target.js';
import { createWaitLines } from './wait-lines.js';

/** What is followed of one kind. */
interface FollowedKind extends RowFilter {
  kind: Kind;
  target: RowTarget | null;
}

/** `packhouse pull --follow`. */
interface FollowPull {
  url: string;
  apiKey: string;
  network: string;
  from: Bound | undefined;
  /** Each with its filter. */
  kinds: readonly FollowedKind[];
  options: {
    address?: readonly string[];
    topic?: readonly string[];
    trustKey?: string;
    mirror?: string;
    json?: boolean;
  };
}

/**
 * Follows into tables of Postgres, all kinds in one transaction; or into a folder of Parquet or a DuckDB file, each kind
 * for itself and final blocks only. Ends with an error or a signal.
 */
export async function followToTarget(io: CliIo, pull: FollowPull): Promise<void> {
  const { url, apiKey, from, options } = pull;
  if (from !== undefined && from.type !== 'block') {
    throw usageError('--from takes a block number with --follow.', 'For example --from 17M.');
  }
  const lines = createFollowLines(io, options.json === true);
  const waits = createWaitLines(lines.say);
  const client = createClient({ url, apiKey, onWait: waits.wait, onBack: waits.back });
  const folder = options.mirror === undefined ? undefined : path.resolve(io.cwd, options.mirror);
  const trustKeyFile = options.trustKey === undefined ? undefined : path.resolve(io.cwd, options.trustKey);
  const request = {
    ...(from === undefined ? {} : { from: from.number }),
    address: (options.address ?? []).flatMap((text) => text.split(',')).map((text) => text.trim()),
    topics: [options.topic ?? []],
    abi: pull.kinds.find(({ kind }) => kind === 'logs')?.abi,
    folder,
    trustKeyFile,
  };
  const run = async (kinds: readonly FollowedKind[], final: boolean, open: () => Promise<FollowSink>) => {
    const steps = followInto({
      client,
      open,
      request: { ...request, kinds: kinds.map(({ kind }) => kind), final, signal: io.signal },
      onAway: lines.away,
      onBack: lines.back,
    });
    for await (const { step, sink } of steps) await lines.step(step, sink);
  };
  try {
    const sinks = pull.kinds.map((each) => ({ each, sink: toSinkTarget(io, each) }));
    const [first] = sinks;
    if (first?.sink.format === 'postgres') {
      await run(pull.kinds, false, () => openTables(pull, first.sink, lines));
    } else {
      await Promise.all(sinks.map(({ each, sink }) => followRows(io, pull, each, sink, run)));
    }
  } finally {
    await client.close();
  }
}

function toSinkTarget(io: CliIo, { target }: FollowedKind): SinkTarget {
  const write = async (): Promise<void> => undefined;
  return (target as RowTarget).sink((file) => path.resolve(io.cwd, file), write);
}

async function openTables(
  { kinds }: FollowPull,
  target: SinkTarget,
  lines: FollowLines,
): Promise<FollowSink> {
  const { url } = target as Extract<SinkTarget, { format: 'postgres' }>;
  const tables: Partial<Record<Kind, string>> = {};
  for (const { kind, target: own } of kinds) {
    const named = (own as RowTarget).sink(
      (file) => file,
      async () => undefined,
    );
    if ('table' in named) tables[kind] = named.table;
  }
  const bytes = kinds.some(({ target: own }) => own?.bytes === true);
  const abi = kinds.find(({ kind }) => kind === 'logs')?.abi;
  return createPostgresSink({ url, tables, abi, bytes, onLoaded: lines.loaded });
}

type Run = (kinds: readonly FollowedKind[], final: boolean, open: () => Promise<FollowSink>) => Promise<void>;

async function followRows(
  io: CliIo,
  { url, apiKey, network }: FollowPull,
  each: FollowedKind,
  target: SinkTarget,
  run: Run,
): Promise<void> {
  const { kind, match, decoder } = each;
  const { bytes = false, folder, partition } = each.target as RowTarget;
  const own = toSchema(kind, { bytes });
  const schema = decoder === undefined ? own : decoder.schema(own);
  const { base } = gatewayAddress(url, apiKey);
  const origin = { base, kind, schema: schema.name, match };
  const beside = folder === null ? null : stateFolder(path.resolve(io.cwd, folder));
  if (beside !== null) await mkdir(beside, { recursive: true });
  const lock =
    beside === null
      ? null
      : takeFolder(beside, io.pid, 'Wait until that one is done, or give another with --out.');
  try {
    const extend = decoder?.extend;
    await run([each], true, () => createRowSink({ target, schema, origin, network, extend, partition }));
  } finally {
    lock?.release();
  }
}
