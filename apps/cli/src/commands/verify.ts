import path from 'node:path';
import type { BlockRange } from '@packhouse/chain';
import { type CheckTask, checkFiles, logOf } from '@packhouse/client';
import { readPublicKeys, type SealedEntry } from '@packhouse/manifest';
import { unionRanges } from '@packhouse/pipeline';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { counted, formatBytes, formatCount } from '../terminal/format.js';
import { type CliIo, print } from '../terminal/io.js';
import { parseInteger } from '../terminal/parse.js';
import { checkEnds, type Ends, readHeads } from './verify-heads.js';
import { type BundleFile, entriesOfFile, findInputs, type Inputs, kindOfFolders } from './verify-inputs.js';
import { type Known, noteAbsent, rangeName, readManifests } from './verify-manifests.js';
import { headUrl, isBase, manifestUrls, nameOf, readSource, type Source, sourceOf } from './verify-source.js';

interface VerifyOptions {
  manifest: string[];
  key: string[];
  head: string[];
  apiKey?: string;
  complete?: boolean;
  deep?: boolean;
  threads?: string;
  json?: boolean;
}

/** Exit code if a file differs from the published one. */
const DAMAGED = 2;
/** Ranges of absent files that are shown for each kind. */
const SHOWN = 5;
const MAX_THREADS = 256;

/** `packhouse verify`. */
export function addVerifyCommand(program: Command, io: CliIo): void {
  const several = (value: string, before: string[]): string[] => [...before, value];
  program
    .command('verify')
    .description('check downloaded files against the signed manifest; exit code 2: something is damaged')
    .argument('<path...>', 'downloaded files, or folders with them')
    .option(
      '--manifest <file-or-url>',
      'manifest (JSON lines), or a base address ending in /v1/; repeatable; default: *.jsonl in the folders',
      several,
      [],
    )
    .option(
      '--key <file-or-url>',
      'public keys; repeatable; default: *manifest-keys*.json and *.pem in the folders, or those of the address',
      several,
      [],
    )
    .option(
      '--head <file-or-url>',
      'signed heads, which tell whether the end of a manifest is cut off, or a base address; repeatable; default: *manifest-head*.jsonl in the folders, and those of the address',
      several,
      [],
    )
    .option('--api-key <key>', 'for a manifest at a base address (or PACKHOUSE_API_KEY)')
    .option('--complete', 'a published file that is absent is an error too')
    .option('--deep', 'inflate the files, too: gzip, JSON, records, numbers and hashes of blocks')
    .option('--threads <n>', 'files checked at a time; default: one for each core')
    .option('--json', 'print one JSON object a file, and one for the whole')
    .addHelpText(
      'after',
      '\nExample:\n  $ packhouse verify ./logs --manifest logs.jsonl --key packhouse-manifest-keys.json',
    )
    .action(async (paths: string[], options: VerifyOptions) => {
      const inputs = await findInputs(paths, io.cwd);
      const damaged = await verify(io, inputs, options);
      if (damaged) io.exitCode = DAMAGED;
    });
}

async function verify(io: CliIo, inputs: Inputs, options: VerifyOptions): Promise<boolean> {
  const threads =
    options.threads === undefined ? undefined : parseInteger(options.threads, '--threads', 1, MAX_THREADS);
  const manifests = manifestsOf(io, inputs, options);
  const keySources = keysOf(inputs, options, manifests);
  const texts = await Promise.all(
    keySources.map(async (source) =>
      readPublicKeys(await readSource(source, io.cwd, io.signal), nameOf(source)),
    ),
  );
  const keys = new Map(texts.flatMap((each) => [...each]));
  // Before the manifests, which may grow meanwhile.
  const heads = await readHeads(headsOf(io, inputs, options), { keys, cwd: io.cwd, signal: io.signal });
  const known = await readManifests(manifests, {
    keys,
    heads,
    ranges: new Set(inputs.bundles.map(rangeName)),
    cwd: io.cwd,
    signal: io.signal,
  });
  /** Entries that have a file, damaged or not. */
  const present = new Set<string>();
  const tally = { files: 0, bytes: 0, damaged: 0 };
  /** Sound files by what of them is not proved. */
  const notProved = new Map<string, number>();
  const fault = async (message: string, file?: string): Promise<void> => {
    tally.damaged += 1;
    // Known even if the reader of the output goes away before the end.
    io.exitCode = DAMAGED;
    await print(
      io,
      options.json ? { event: 'damage', ...(file === undefined ? {} : { file }), message } : message,
    );
  };
  const kinds = new Set(inputs.bundles.map(kindOfFolders));
  const ends = checkEnds(known, heads, ({ kind }) => kinds.has(kind));
  for (const message of [...known.faults, ...ends.faults]) await fault(message);
  for (const { path, fault: why } of inputs.unreadable) await fault(why, path);
  for (const file of inputs.misnamed) {
    await fault(
      `${file} is not named like a bundle, <start>-<end>.json.gz, so it is unknown what it should be.`,
      file,
    );
  }
  const partly = known.faults.length + ends.faults.length > 0;
  const tasks: FileTask[] = [];
  for (const file of inputs.bundles) {
    const candidates = entriesOfFile(file, known.byRange.get(rangeName(file)) ?? []);
    if (candidates.length === 0) await fault(unknownFault(file, partly), file.path);
    else tasks.push({ file, candidates, ...toCheck(io, file, options) });
  }
  for await (const { task, verdict } of checkFiles(tasks, { threads, signal: io.signal })) {
    const { file, candidates } = task;
    const own = 'entry' in verdict ? [verdict.entry] : candidates;
    for (const entry of own) present.add(fileOf(entry));
    if ('fault' in verdict) await fault(verdict.fault, file.path);
    else {
      tally.files += 1;
      tally.bytes += verdict.entry.bytes;
      const { network, kind, sequence, version } = verdict.entry;
      for (const { proof, because } of verdict.entry.notProved ?? []) {
        const what = `${logOf(verdict.entry)}: not proved: ${proof}: ${because}`;
        notProved.set(what, (notProved.get(what) ?? 0) + 1);
      }
      if (options.json) {
        const gaps = verdict.entry.notProved === undefined ? {} : { notProved: verdict.entry.notProved };
        await print(io, { event: 'ok', file: file.path, network, kind, sequence, version, ...gaps });
      }
    }
  }
  for (const entries of known.byRange.values()) {
    for (const entry of entries) if (!present.has(fileOf(entry))) noteAbsent(known, entry);
  }
  if (!options.json) {
    for (const [what, files] of notProved) await print(io, `In ${counted(files, 'file')} of ${what}`);
  }
  return summarise(io, options, { ...known, ends }, tally);
}

function fileOf({ network, kind, start, end }: SealedEntry): string {
  return `${network}/${kind}/${start}-${end}`;
}

type FileTask = CheckTask & { file: BundleFile };

function toCheck(
  io: CliIo,
  { path: shown, version }: BundleFile,
  { deep = false }: VerifyOptions,
): Pick<CheckTask, 'full' | 'shown' | 'version' | 'deep'> {
  return { full: path.resolve(io.cwd, shown), shown, deep, ...(version === undefined ? {} : { version }) };
}

function unknownFault(file: BundleFile, partly: boolean): string {
  const kind = kindOfFolders(file);
  const where = partly ? 'in the part of the manifest that could be checked' : 'in the manifest';
  const what = kind === undefined ? 'no bundle' : `no bundle of ${kind}`;
  return `${file.path} is not ${where}: ${what} has its range.`;
}

async function summarise(
  io: CliIo,
  options: VerifyOptions,
  known: Known & { ends: Ends },
  tally: { files: number; bytes: number; damaged: number },
): Promise<boolean> {
  const absent = [...known.absent].map(([log, { bundles, ranges }]) => ({
    log,
    bundles,
    ranges: unionRanges(ranges),
  }));
  const missing = absent.reduce((sum, { bundles }) => sum + bundles, 0);
  const entries = known.logs.reduce((sum, log) => sum + log.entries, 0);
  const keys = [...new Set(known.logs.flatMap(({ keyIds }) => keyIds))];
  const { whole, notChecked } = known.ends;
  const failed = tally.damaged > 0 || (options.complete === true && missing > 0);
  if (options.json) {
    const shown = absent.map(({ ranges, ...rest }) => ({ ...rest, ranges: ranges.map(rangeName) }));
    const manifest = { entries, keys, upToHead: whole, endNotChecked: notChecked };
    await print(io, {
      event: 'end',
      ok: !failed,
      deep: options.deep === true,
      ...tally,
      ...manifest,
      notDownloaded: missing,
      absent: shown,
    });
    return failed;
  }
  for (const { log, bundles, ranges } of absent) {
    await print(io, `Not downloaded: ${counted(bundles, 'file')} of ${log}: ${shownRanges(ranges)}.`);
  }
  const good = `${counted(tally.files, 'file is', 'files are')} what was published (${formatBytes(tally.bytes)}${options.deep === true ? ', inflated and read' : '; not inflated, which --deep does'})`;
  const bad = tally.damaged === 0 ? 'nothing is damaged' : counted(tally.damaged, 'fault');
  const signed = keys.length === 0 ? '' : `, signed with key ${keys.join(', ')}`;
  await print(
    io,
    `${good}, ${bad}, ${formatCount(missing)} not downloaded; ${formatCount(entries)} entries of the manifest checked${signed}${endsText(known.ends)}.`,
  );
  return failed;
}

/** How far the ends of the manifests are known; begins with a semicolon unless there is nothing to say. */
function endsText({ whole, notChecked }: Ends): string {
  const upTo = whole.map(({ log, signedAt }) => `${log}: ${signedAt}`).join(', ');
  const without = notChecked.join(', ');
  return [
    whole.length === 0 ? '' : `; none is missing up to the signed head (${upTo})`,
    notChecked.length === 0
      ? ''
      : `; whether entries are missing at the end is not checked, because there is no signed head of it (${without})`,
  ].join('');
}

function shownRanges(ranges: readonly BlockRange[]): string {
  const more = ranges.length > SHOWN ? ` and ${formatCount(ranges.length - SHOWN)} more ranges` : '';
  return ranges.slice(0, SHOWN).map(rangeName).join(', ') + more;
}

/** Signed heads: those named, those in the folders, and those of the gateways that manifests are read from. */
function headsOf(io: CliIo, inputs: Inputs, options: VerifyOptions): Source[] {
  const apiKey = apiKeyOf(io, options);
  const bases = options.manifest.filter(isBase);
  const named = options.head.length > 0 ? options.head : inputs.heads;
  return [...new Set([...named, ...bases])].map((text) => {
    const source = sourceOf(text);
    return 'file' in source ? source : { url: headUrl(source.url, apiKey) };
  });
}

function apiKeyOf(io: CliIo, options: VerifyOptions): string | undefined {
  return options.apiKey ?? (io.env.PACKHOUSE_API_KEY || undefined);
}

function manifestsOf(io: CliIo, inputs: Inputs, options: VerifyOptions): Source[] {
  const apiKey = apiKeyOf(io, options);
  const kinds = [...new Set(inputs.bundles.flatMap((file) => kindOfFolders(file) ?? []))];
  const given = options.manifest.flatMap((text): Source[] => {
    const source = sourceOf(text);
    if ('file' in source) return [source];
    return manifestUrls(source.url, apiKey, kinds).map((url) => ({ url }));
  });
  const sources = given.length > 0 ? given : inputs.manifests.map((file) => ({ file }));
  if (sources.length > 0) return sources;
  throw new PackhouseError({
    code: 'USAGE',
    message: 'There is no manifest to check against.',
    hint: 'Give one with --manifest, or put it into the folder as <name>.jsonl.',
  });
}

function keysOf(inputs: Inputs, options: VerifyOptions, manifests: readonly Source[]): Source[] {
  if (options.key.length > 0) return options.key.map(sourceOf);
  if (inputs.keys.length > 0) return inputs.keys.map((file) => ({ file }));
  const [first] = manifests;
  if (first !== undefined && 'url' in first) {
    return [{ url: new URL('/.well-known/packhouse-manifest-keys.json', first.url).href }];
  }
  throw new PackhouseError({
    code: 'USAGE',
    message: 'There is no public key to check the manifest with.',
    hint: 'Give the JSON of /.well-known/packhouse-manifest-keys.json with --key, or put it into the folder under that name.',
  });
}
