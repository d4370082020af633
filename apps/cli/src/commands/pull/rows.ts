import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  findReplaced,
  type Mirror,
  openReceipts,
  openSink,
  planMirror,
  pullRows,
  skipFiles,
  stateFolder,
} from '@packhouse/client';
import { type AbiColumns, hasReceiptColumns, type Match, toSchema } from '@packhouse/rows';
import { type CliIo, drained } from '../../terminal/io.js';
import { type PullRequest, showFiles, withMirror } from './open-mirror.js';
import { summarise } from './summary.js';
import type { RowTarget } from './target.js';

/** Rows of a range, to a target. */
interface RowPull extends PullRequest {
  target: RowTarget;
  match: Match;
  /** Adds columns to those of the kind. */
  decoder?: AbiColumns;
}

/** `packhouse pull` with a format of rows. */
export async function pullToTarget(io: CliIo, pull: RowPull): Promise<void> {
  const { target, address, kind, http, match, decoder, options } = pull;
  const resolve = (file: string): string => path.resolve(io.cwd, file);
  // With rows on stdout, text goes to stderr.
  const textIo: CliIo = target.label === 'stdout' ? { ...io, stdout: io.stderr } : io;
  const beside = target.folder === null ? null : stateFolder(resolve(target.folder));
  const kept = target.work === null ? beside : resolve(target.work);
  const work = kept ?? (await mkdtemp(path.join(tmpdir(), 'packhouse-pull-')));
  const pullRowsFrom = async (mirror: Mirror): Promise<void> => {
    const { peer, text, partition, keep, bytes = false } = target;
    const own = toSchema(kind, { bytes, peer, text });
    const schema = decoder === undefined ? own : decoder.schema(own);
    const origin = { base: address.base, kind, schema: schema.name, match };
    const network = mirror.state.log?.network ?? 'network';
    const writeText = async (text: string): Promise<void> => {
      io.stdout.write(text);
      await drained(io);
    };
    let receipts: Awaited<ReturnType<typeof openReceipts>> | undefined;
    const sink = await openSink(target.sink(resolve, writeText), { schema, origin, network });
    try {
      const before = sink.state.rows;
      const replaced = await findReplaced(mirror, sink);
      const { partial, wholeManifest } = options;
      const range = { from: pull.from, to: pull.to, partial, wholeManifest };
      const whole = await planMirror(mirror, { ...range, passing: !keep, has: sink.state.done });
      const plan = await skipFiles(mirror, whole, match, { parts: !keep });
      if (hasReceiptColumns(own) && plan.files > 0) {
        receipts = await openReceipts(mirror, plan, { folder: path.join(work, 'of-receipts'), keep });
      }
      const parts = { mirror, plan, sink, match, schema: own, receipts, keep, partition };
      const ended = await showFiles(textIo, plan, pull, (onBytes) =>
        pullRows({ ...parts, extend: decoder?.extend, onBytes }),
      );
      const all = sink.state.rows;
      const undecoded = decoder?.undecoded ?? null;
      const withoutReceipts = receipts?.missing ?? null;
      const rows = { added: all - before, all, undecoded, withoutReceipts, replaced };
      const json = options.json === true;
      await summarise(textIo, { kind, plan, out: target.label, json, requests: http.sent, rows, ...ended });
      io.exitCode = textIo.exitCode;
    } finally {
      await receipts?.close();
      await sink.close();
    }
  };
  try {
    await withMirror(io, pull, work, beside === null ? [] : [beside], pullRowsFrom);
  } finally {
    if (kept === null) await rm(work, { recursive: true, force: true });
  }
}
