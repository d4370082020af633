import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Kind } from '@packhouse/chain';
import {
  type AbiColumns,
  type Bound,
  type createHttp,
  findReplaced,
  type GatewayAddress,
  type Http,
  type Match,
  openMirror,
  openSink,
  planMirror,
  pullRows,
  schemaOf,
  skipFiles,
} from '@packhouse/client';
import { PackhouseError } from '@packhouse/runtime';
import { takeFolder } from '../installation/directory-lock.js';
import { type CliIo, drained } from '../terminal/io.js';
import { createPullProgress } from './pull-progress.js';
import { summarise } from './pull-summary.js';
import type { RowTarget } from './pull-target.js';

/** Rows of a range, to a target. */
interface RowPull {
  kind: Kind;
  from: Bound | undefined;
  to: Bound | undefined;
  target: RowTarget;
  address: GatewayAddress;
  http: Http;
  options: { trustKey?: string; partial?: boolean; json?: boolean };
  match?: Match;
  /** Adds columns to those of the kind. */
  decoder?: AbiColumns;
}

/** `packhouse pull` with a format of rows. */
export async function pullToTarget(
  io: CliIo,
  pull: RowPull,
  waits: { wait?: Parameters<typeof createHttp>[0]['onWait'] },
): Promise<void> {
  const { target, address, kind, http, match = {}, decoder, options } = pull;
  const json = options.json === true;
  const resolve = (file: string): string => path.resolve(io.cwd, file);
  // Rows on stdout have it for themselves.
  const said: CliIo = target.label === 'stdout' ? { ...io, stdout: io.stderr } : io;
  waits.wait = ({ reason, seconds }) => io.stderr.write(`${reason} Asking again in ${seconds} s.\n`);
  const work =
    target.work === null ? await mkdtemp(path.join(tmpdir(), 'packhouse-pull-')) : resolve(target.work);
  const folders = target.folder === null ? [work] : [...new Set([resolve(target.folder), work])];
  const locks: { release(): void }[] = [];
  try {
    for (const folder of folders) {
      await makeFolder(folder);
      locks.push(takeFolder(folder, io.pid, 'Wait until that one is done, or give another with --out.'));
    }
    const trustKeyFile = options.trustKey === undefined ? undefined : resolve(options.trustKey);
    const mirror = await openMirror({ folder: work, kind, address, http, trustKeyFile, signal: io.signal });
    try {
      const { isNew } = mirror.trust;
      if (isNew !== null) {
        io.stderr.write(
          `Trusting the signing key ${isNew.keyIds.join(', ')} of ${isNew.from} from now on.\n`,
        );
      }
      const own = schemaOf(kind, { bytes: target.bytes ?? false });
      const schema = decoder === undefined ? own : decoder.schema(own);
      const origin = { base: address.base, kind, schema: schema.name, match };
      const network = mirror.state.log?.network ?? 'network';
      const sink = await openSink(
        target.sink(resolve, async (text) => {
          io.stdout.write(text);
          await drained(io);
        }),
        { schema, origin, network },
      );
      try {
        const before = sink.state.rows;
        const replaced = findReplaced(mirror, sink);
        const range = { from: pull.from, to: pull.to, partial: options.partial };
        const whole = await planMirror(mirror, { ...range, passing: !target.keep, has: sink.state.done });
        const plan = await skipFiles(mirror, whole, match);
        const progress = createPullProgress(said, plan, json);
        waits.wait = progress.wait;
        let ended = { downloaded: 0, faults: 0 };
        try {
          const rows = {
            ...{ mirror, plan, sink, match, keep: target.keep, partition: target.partition },
            ...{ extend: decoder?.extend, onBytes: progress.bytes },
          };
          for await (const file of pullRows(rows)) await progress.file(file);
        } finally {
          ended = progress.end();
        }
        const rows = {
          ...{ added: sink.state.rows - before, all: sink.state.rows },
          undecoded: decoder?.undecoded ?? null,
          replaced,
        };
        await summarise(said, { plan, out: target.label, json, requests: http.sent, rows, ...ended });
        io.exitCode = said.exitCode;
      } finally {
        await sink.close();
      }
    } finally {
      await mirror.close();
    }
  } finally {
    for (const lock of locks) lock.release();
    if (target.work === null) await rm(work, { recursive: true, force: true });
  }
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((cause: Error) => {
    throw new PackhouseError({
      code: 'DATA_DIR_UNUSABLE',
      message: `${folder} cannot be made: ${cause.message}.`,
      cause,
    });
  });
}
