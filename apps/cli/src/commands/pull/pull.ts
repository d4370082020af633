import path from 'node:path';
import { KINDS, type Kind } from '@packhouse/chain';
import {
  type Bound,
  createHttp,
  type Gateway,
  gatewayAddress,
  looksLikeBound,
  mirrorFiles,
  parseBound,
  planMirror,
} from '@packhouse/client';
import type { Peer } from '@packhouse/rows';
import type { Command } from 'commander';
import { addCommand, collect } from '../../terminal/command.js';
import type { CliIo } from '../../terminal/io.js';
import { parseKinds, usageError } from '../../terminal/parse.js';
import { readApiKey } from './api-key.js';
import type { FilterOptions, RowFilter } from './filter.js';
import { type PullRequest, showFiles, withMirror } from './open-mirror.js';
import { summarise } from './summary.js';
import { type RowTarget, readTarget } from './target.js';

interface PullOptions extends FilterOptions {
  kinds: string;
  from?: string;
  to?: string;
  format: string;
  out?: string;
  partition?: string;
  schema: string;
  bytes?: string;
  mirror?: string;
  apiKeyFile?: string;
  trustKey?: string;
  partial?: boolean;
  check?: boolean;
  wholeManifest?: boolean;
  dryRun?: boolean;
  follow?: boolean;
  json?: boolean;
}

/** The options of `pull` that --follow has nothing to do with. */
const REFUSED = ['to', 'partial', 'check', 'dryRun', 'wholeManifest', 'schema'] as const;

/** `packhouse pull`. What only some of its options need is loaded with them. */
export function addPullCommand(program: Command, io: CliIo): void {
  addCommand(
    program,
    'pull',
    'Download the published files of a block range, verified, or their rows; a second run continues',
    'https://data.example.com/ethereum --kinds logs --from 17M --to +1000 --out logs',
    'https://data.example.com/ethereum --kinds logs --from 17M --to +1000 --format parquet --out usdt',
  )
    .argument('<url>', 'URL of a network at a gateway')
    .requiredOption('--kinds <kinds>', `Kinds, comma-separated: ${KINDS.join(', ')}; or all`)
    .option(
      '--from <block>',
      'First block: 17000000, 17M, -1000 (before the end) or a date (default: the first published block)',
    )
    .option(
      '--to <block>',
      'Last block: 17999999, 18M, +1000 (from the first), -1000 or a date, not included (default: the last published block)',
    )
    .option(
      '--format <format>',
      'Output: mirror (the files), or their rows as parquet, duckdb, jsonl, csv or postgres://…/database?table=logs',
      'mirror',
    )
    .option(
      '--address <accounts>',
      'Only rows of these accounts, comma-separated, repeatable: the emitter of logs; sender, recipient or new contract elsewhere',
      collect,
    )
    .option(
      '--topic <event>',
      'Only logs with this first topic, repeatable: a hash, a signature such as Transfer(address,address,uint256), or a name in the ABI',
      collect,
    )
    .option('--abi <file>', 'Decode logs into columns: a JSON ABI, an artifact, or lines "event Transfer(…)"')
    .option(
      '--out <path>',
      'Output folder or file, or - for stdout; of several kinds each has its folder or table there (default: <network>-<kind>)',
    )
    .option('--schema <name>', 'Columns and names of files: packhouse, cryo or ethereum-etl', 'packhouse')
    .option(
      '--bytes <form>',
      'Hashes, addresses, topics and data in tables: text or blob (default: text; blob with --schema cryo)',
    )
    .option('--partition <blocks>', 'Blocks per folder network=/kind=/from= of rows')
    .option(
      '--mirror <folder>',
      'Folder in which to keep the files of pulled rows (default: they are removed)',
    )
    .option('--api-key-file <file>', 'File with the API key (default: PACKHOUSE_API_KEY, or a prompt)')
    .option(
      '--trust-key <file>',
      'Public keys to trust (default: those of the folder; on the first pull, those of the gateway)',
    )
    .option('--partial', 'Pull the available blocks of the range; exit code 2 if blocks are missing')
    .option('--check', 'Hash the files in the folder again, and replace damaged ones')
    .option('--whole-manifest', 'Check the whole signed manifest, not only the entries of the range')
    .option(
      '--follow',
      'Go on with new blocks until it is stopped, and undo what is reorganised; in parquet and duckdb final blocks only',
    )
    .option('--dry-run', 'Estimate requests and bytes, and download nothing')
    .option('--json', 'Print one JSON object per file, and a summary')
    .action((url: string, options: PullOptions) => run(io, url, options));
}

async function run(io: CliIo, url: string, options: PullOptions): Promise<void> {
  const all = readOptions(url, options);
  if (options.follow === true) {
    checkFollow(
      { ...options },
      all.map(({ target }) => target),
    );
  }
  const filters = await readFilters(io, all, options);
  const apiKey = await readApiKey(io, options.apiKeyFile);
  if (options.follow === true) {
    const kinds = all.map(({ kind, target }, at) => ({ ...(filters[at] as RowFilter), kind, target }));
    const from = all[0]?.from;
    const { followToTarget } = await import('./follow.js');
    await followToTarget(io, { url, apiKey, network: networkOf(url), from, kinds, options });
    return;
  }
  const address = gatewayAddress(url, apiKey);
  const waits: PullRequest['waits'] = {};
  const http = createHttp({
    apiKey,
    onWait: (wait) => waits.heard?.wait(wait),
    onBack: () => waits.heard?.back(),
  });
  try {
    for (const [at, asked] of all.entries()) {
      const filter = filters[at] as RowFilter;
      const { target } = asked;
      if (options.dryRun === true) {
        const { dryRun } = await import('./dry-run.js');
        await dryRun(io, { ...asked, match: filter.match, address, http });
      } else if (target === null) await pull(io, { ...asked, address, http, waits });
      else {
        const { pullToTarget } = await import('./rows.js');
        await pullToTarget(io, { ...asked, ...filter, target, address, http, waits });
      }
    }
  } finally {
    await http.close();
  }
}

/** What the command line asks for of one kind. */
interface Asked {
  kind: Kind;
  /** The program whose columns the rows have; undefined: packhouse. */
  peer: Peer | undefined;
  from: Bound | undefined;
  to: Bound | undefined;
  /** As it is shown. */
  out: string;
  /** Null: a mirror in the folder `out`. */
  target: RowTarget | null;
  options: PullOptions;
}

type Pull = Asked & Gateway;

function readOptions(url: string, options: PullOptions): Asked[] {
  const kinds = parseKinds(options.kinds);
  const network = networkOf(url);
  return kinds.map((kind) => readKind({ kind, network, isOne: kinds.length === 1 }, options));
}

function networkOf(url: string): string {
  return /\/([^/]+?)\/?(?:v1\/?)?$/.exec(url)?.[1] ?? 'network';
}

function readKind(
  { kind, network, isOne }: { kind: Kind; network: string; isOne: boolean },
  options: PullOptions,
): Asked {
  const out = isOne ? options.out : ofKind(options, kind);
  const mirror = isOne || options.mirror === undefined ? options.mirror : path.join(options.mirror, kind);
  const target = readTarget(options.format, { ...options, out, mirror, network, kind, isOne });
  if (options.to !== undefined && !looksLikeBound(options.to)) {
    // Not repeated: the address of a database may have a password in it.
    throw usageError('--to takes a block or a date.', 'Name a format of rows with --format.');
  }
  const filter = namedFilter(options);
  if (target === null && filter !== undefined) {
    throw usageError(`--${filter} needs a format of rows.`, 'Add --format jsonl.');
  }
  if (target !== null && options.check === true) {
    throw usageError('--check is for files of bundles.', 'Leave it out, or leave out --format.');
  }
  return {
    kind,
    peer: target?.peer,
    from: options.from === undefined ? undefined : parseBound(options.from, '--from'),
    to: options.to === undefined ? undefined : parseBound(options.to, '--to'),
    out: target?.label ?? out ?? `${network}-${kind}`,
    target,
    options,
  };
}

/** Throws USAGE if an option of the command line does not go with --follow. */
function checkFollow(
  options: Readonly<Record<string, unknown>>,
  targets: readonly (RowTarget | null)[],
): void {
  const wrong = REFUSED.find((name) => options[name] !== undefined && options[name] !== 'packhouse');
  if (wrong !== undefined) {
    const name = wrong.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw usageError(`--${name} does not go with --follow.`, 'Leave it out.');
  }
  if (options.format === 'duckdb' && targets.length > 1) {
    throw usageError(
      '--follow takes one kind for a DuckDB file, which one process opens once.',
      'Name another file for each kind, or use --format parquet.',
    );
  }
  if (targets.every((target) => target?.text === false)) return;
  throw usageError(
    '--follow needs a format that keeps a cursor beside its rows.',
    'Use --format postgres://…, duckdb or parquet.',
  );
}

const namedFilter = (options: FilterOptions) =>
  (['address', 'topic', 'abi'] as const).find((each) => options[each]?.length);

/** The filter of each kind. */
async function readFilters(io: CliIo, all: readonly Asked[], options: FilterOptions): Promise<RowFilter[]> {
  if (namedFilter(options) === undefined) return all.map(() => ({ match: {} }));
  const { readFilter } = await import('./filter.js');
  const filters: RowFilter[] = [];
  for (const { kind, peer } of all) filters.push(await readFilter(io, { kind, peer }, options));
  return filters;
}

/** Where one of several kinds goes to: a folder in that of all, or a table in their file. Throws USAGE. */
function ofKind({ out, format }: PullOptions, kind: Kind): string | undefined {
  if (out === '-') throw usageError('Only one kind can be written to stdout.', 'Give a folder with --out.');
  return out === undefined || format === 'duckdb' ? out : path.join(out, kind);
}

async function pull(io: CliIo, request: Pull & PullRequest): Promise<void> {
  const { kind, from, to, out, options, http } = request;
  await withMirror(io, request, path.resolve(io.cwd, out), [], async (mirror) => {
    const { partial, check, wholeManifest } = options;
    const plan = await planMirror(mirror, { from, to, partial, check, wholeManifest });
    const ended = await showFiles(io, plan, request, (onBytes) => mirrorFiles(mirror, plan, onBytes));
    await summarise(io, { kind, plan, out, json: options.json === true, requests: http.sent, ...ended });
  });
}
