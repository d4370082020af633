import { mkdir, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { Kind } from '@packhouse/chain';
import {
  type Bound,
  createHttp,
  type GatewayAddress,
  gatewayAddress,
  type Http,
  looksLikeBound,
  type Match,
  mirrorFiles,
  openMirror,
  parseBound,
  planMirror,
  quoteFiles,
} from '@packhouse/client';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { takeFolder } from '../installation/directory-lock.js';
import { counted, formatBytes, formatRange } from '../terminal/format.js';
import { type CliIo, print } from '../terminal/io.js';
import { parseKinds } from '../terminal/parse.js';
import { type FilterOptions, readFilter } from './pull-filter.js';
import { readApiKey } from './pull-key.js';
import { createPullProgress } from './pull-progress.js';
import { pullToTarget } from './pull-rows.js';
import { PARTIAL, sayMissing, saySkipped, summarise } from './pull-summary.js';
import { type RowTarget, readTarget } from './pull-target.js';

interface PullOptions extends FilterOptions {
  kind: string;
  from?: string;
  to?: string[];
  out?: string;
  partition?: string;
  bytes?: string;
  mirror?: string;
  apiKeyFile?: string;
  trustKey?: string;
  partial?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

/** `packhouse pull`. */
export function addPullCommand(program: Command, io: CliIo): void {
  program
    .command('pull')
    .description('download the published files of a range, checked, or their rows; a second run continues')
    .argument('<url>', 'a network at a gateway, for example https://data.example.com/ethereum')
    .requiredOption('--kind <kind>', 'blocks, transactions, receipts, logs or traces')
    .option(
      '--from <block>',
      'first block: 17000000, 17M, -1000 (before the end) or a date; default: the first published',
    )
    .option(
      '--to <block-or-format>',
      'last block: 17999999, 18M, +1000 (from the first), -1000 or a date (which is not included); or the format: mirror, parquet, duckdb, jsonl, csv, postgres://…/database?table=logs',
      several,
    )
    .option(
      '--address <accounts>',
      'rows of these accounts only, with commas: where logs are from; sender, recipient or new contract of others',
      several,
    )
    .option(
      '--topic <event>',
      'logs with this first topic only: a hash, a signature as Transfer(address,address,uint256), or a name of the ABI; may be given again',
      several,
    )
    .option('--abi <file>', 'decode logs into columns: a JSON ABI, an artifact, or lines "event Transfer(…)"')
    .option(
      '--out <folder>',
      'folder of this kind of this network, or - for stdout; default: <network>-<kind>',
    )
    .option('--bytes <form>', 'hashes, addresses, topics and data as text (default) or blob, for tables')
    .option('--partition <blocks>', 'folders network=/kind=/start= of so many blocks each, for rows')
    .option(
      '--mirror <folder>',
      'folder to keep the files in whose rows are pulled; default: they are removed',
    )
    .option('--api-key-file <file>', 'file with the API key; default: PACKHOUSE_API_KEY, or it is asked for')
    .option(
      '--trust-key <file>',
      'public keys that the manifest must be signed with; default: those of the folder, or at first of the gateway',
    )
    .option('--partial', 'pull what there is and what the plan includes; exit code 2 if that is not all')
    .option('--dry-run', 'say what it would take, and download nothing')
    .option('--json', 'print one JSON object a file, and one for the whole')
    .addHelpText(
      'after',
      '\nExample:\n  $ packhouse pull https://data.example.com/ethereum --kind logs --from 17M --to +1000 --out logs',
    )
    .action(async (url: string, options: PullOptions) => {
      const asked = readOptions(url, options);
      const filter = await readFilter(io, asked.kind, options);
      const apiKey = await readApiKey(io, options.apiKeyFile);
      const address = gatewayAddress(url, apiKey);
      const progress: { wait?: Parameters<typeof createHttp>[0]['onWait'] } = {};
      const http = createHttp({ apiKey, onWait: (wait) => progress.wait?.(wait) });
      try {
        if (options.dryRun === true) await dryRun(io, { ...asked, match: filter.match, address, http });
        else if (asked.target !== null) {
          await pullToTarget(io, { ...asked, ...filter, target: asked.target, address, http }, progress);
        } else await pull(io, { ...asked, address, http }, progress);
      } finally {
        await http.close();
      }
    });
}

/** Collects the values of an option that may be given again. */
function several(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** What the command line asks for. */
interface Asked {
  kind: Kind;
  from: Bound | undefined;
  to: Bound | undefined;
  /** As it is shown. */
  out: string;
  /** Null: a mirror in the folder `out`. */
  target: RowTarget | null;
  options: PullOptions;
}

type Pull = Asked & { address: GatewayAddress; http: Http };

function readOptions(url: string, options: PullOptions): Asked {
  const kinds = parseKinds(options.kind);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    throw usage(
      'A folder holds one kind, and --kind names several.',
      'Pull each kind into a folder of its own.',
    );
  }
  const { to: given = [] } = options;
  const blocks = given.filter(looksLikeBound);
  const formats = given.filter((text) => !looksLikeBound(text));
  if (blocks.length > 1) throw usage(`--to names two last blocks, ${blocks.join(' and ')}.`, 'Give one.');
  if (formats.length > 1)
    throw usage(`--to names two formats, ${formats.join(' and ')}.`, 'Pull one after the other.');
  const [to] = blocks;
  const network = /\/([^/]+?)\/?(?:v1\/?)?$/.exec(url)?.[1] ?? 'network';
  const name = `${network}-${kind}`;
  const target = readTarget(formats[0] ?? 'mirror', { ...options, name });
  const filter = (['address', 'topic', 'abi'] as const).find((each) => options[each]?.length);
  if (target === null && filter !== undefined) {
    throw usage(`--${filter} is for rows, and a mirror has whole files.`, 'Add --to jsonl.');
  }
  return {
    kind,
    from: options.from === undefined ? undefined : parseBound(options.from, '--from'),
    to: to === undefined ? undefined : parseBound(to, '--to'),
    out: target?.label ?? options.out ?? name,
    target,
    options,
  };
}

async function dryRun(
  io: CliIo,
  { address, http, kind, from, to, match, out, target, options }: Pull & { match: Match },
): Promise<void> {
  const quote = await quoteFiles({ address, http }, { kind, from, to, match }, io.signal);
  const free = await freeSpace(path.resolve(io.cwd, target?.work ?? out));
  const { range, files, bytes, requests, missing, limitedTo } = quote;
  const whole = missing.length === 0 && limitedTo === null;
  if (!whole) io.exitCode = PARTIAL;
  if (options.json === true) {
    await print(io, { event: 'quote', ...quote, range: formatRange(range.start, range.end), free, whole });
    return;
  }
  await print(
    io,
    `${counted(files, 'file')} (${formatBytes(bytes)}) of ${kind}, blocks ${formatRange(range.start, range.end)}: at most ${counted(requests, 'request')}; ${formatBytes(free)} of the disk are free.`,
  );
  await saySkipped(io, quote.skippedFiles);
  await sayMissing(io, { holes: missing, limitedTo });
}

/** The free bytes of the disk that a folder is on, or would be. */
async function freeSpace(folder: string): Promise<number> {
  const found = await statfs(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || path.dirname(folder) === folder) throw error;
    return null;
  });
  return found === null ? freeSpace(path.dirname(folder)) : found.bavail * found.bsize;
}

async function pull(
  io: CliIo,
  { address, http, kind, from, to, out, options }: Pull,
  waits: { wait?: Parameters<typeof createHttp>[0]['onWait'] },
): Promise<void> {
  const folder = path.resolve(io.cwd, out);
  const json = options.json === true;
  waits.wait = ({ reason, seconds }) => io.stderr.write(`${reason} Asking again in ${seconds} s.\n`);
  await mkdir(folder, { recursive: true }).catch((cause: Error) => {
    throw new PackhouseError({
      code: 'DATA_DIR_UNUSABLE',
      message: `${folder} cannot be made: ${cause.message}.`,
      cause,
    });
  });
  const lock = takeFolder(folder, io.pid, 'Wait until that one is done, or give another folder with --out.');
  try {
    const trustKeyFile = options.trustKey === undefined ? undefined : path.resolve(io.cwd, options.trustKey);
    const mirror = await openMirror({ folder, kind, address, http, trustKeyFile, signal: io.signal });
    try {
      const { isNew } = mirror.trust;
      if (isNew !== null) {
        const keys = isNew.keyIds.join(', ');
        io.stderr.write(`Trusting the signing key ${keys} of ${isNew.from} from now on, in ${out}.\n`);
      }
      const plan = await planMirror(mirror, { from, to, partial: options.partial });
      const progress = createPullProgress(io, plan, json);
      waits.wait = progress.wait;
      let ended = { downloaded: 0, faults: 0 };
      try {
        for await (const file of mirrorFiles(mirror, plan, progress.bytes)) await progress.file(file);
      } finally {
        ended = progress.end();
      }
      await summarise(io, { plan, out, json, requests: http.sent, ...ended });
    } finally {
      await mirror.close();
    }
  } finally {
    lock.release();
  }
}

function usage(message: string, hint: string): PackhouseError {
  return new PackhouseError({ code: 'USAGE', message, hint });
}
