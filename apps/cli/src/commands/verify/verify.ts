import path from 'node:path';
import { type BlockRange, unionRanges } from '@packhouse/chain';
import { type CheckTask, checkFiles, toLog } from '@packhouse/client';
import { readPublicKeys, type SealedEntry } from '@packhouse/manifest';
import type { Command } from 'commander';
import { addCommand, collect } from '../../terminal/command.js';
import { counted, formatBytes, formatCount, toPublicRange } from '../../terminal/format.js';
import { type CliIo, print } from '../../terminal/io.js';
import { parseInteger, usageError } from '../../terminal/parse.js';
import { checkEnds, type Ends, readHeads } from './heads.js';
import { type BundleFile, entriesOfFile, findInputs, type Inputs, kindOfFolders } from './inputs.js';
import { type Known, noteAbsent, rangeName, readManifests } from './manifests.js';
import { getSource, headUrl, isBase, manifestUrls, readSource, type Source, toName } from './source.js';

interface VerifyOptions {
  manifest?: string[];
  key?: string[];
  head?: string[];
  apiKey?: string;
  complete?: boolean;
  deep?: boolean;
  threads?: string;
  json?: boolean;
}

/** Exit code if a file differs from the published one. */
const DAMAGED = 2;
/** Ranges of missing files that are shown per kind. */
const SHOWN = 5;
const MAX_THREADS = 256;

/** `packhouse verify`. */
export function addVerifyCommand(program: Command, io: CliIo): void {
  addCommand(
    program,
    'verify',
    'Verify downloaded files against the signed manifest; exit code 2 for damage',
    './logs --manifest logs.jsonl --key packhouse-manifest-keys.json',
  )
    .argument('<path...>', 'Downloaded files, or folders of them')
    .option(
      '--manifest <file-or-url>',
      'Manifest (JSON lines), or a base URL ending in /v1/, repeatable (default: *.jsonl in the folders)',
      collect,
    )
    .option(
      '--key <file-or-url>',
      'Public keys, repeatable (default: *manifest-keys*.json and *.pem in the folders, or those of the URL)',
      collect,
    )
    .option(
      '--head <file-or-url>',
      'Signed heads, which reveal a truncated manifest, or a base URL, repeatable (default: *manifest-head*.jsonl in the folders, and those of the URL)',
      collect,
    )
    .option('--api-key <key>', 'API key for a base URL (default: PACKHOUSE_API_KEY)')
    .option('--complete', 'Report missing files as errors')
    .option('--deep', 'Also verify the contents: gzip, JSON, records, block numbers and hashes')
    .option('--threads <n>', 'Files to verify in parallel (default: one per core)')
    .option('--json', 'Print one JSON object per file, and a summary')
    .action(async (paths: string[], options: VerifyOptions) => {
      const inputs = await findInputs(paths, io.cwd);
      const damaged = await verify(io, inputs, options);
      if (damaged) io.exitCode = DAMAGED;
    });
}

async function verify(io: CliIo, inputs: Inputs, options: VerifyOptions): Promise<boolean> {
  const threads =
    options.threads === undefined ? undefined : parseInteger(options.threads, '--threads', 1, MAX_THREADS);
  const manifests = getManifests(io, inputs, options);
  const keySources = getKeys(inputs, options, manifests);
  const texts = await Promise.all(
    keySources.map(async (source) =>
      readPublicKeys(await readSource(source, io.cwd, io.signal), toName(source)),
    ),
  );
  const keys = new Map(texts.flatMap((each) => [...each]));
  // Before the manifests, which may grow meanwhile.
  const heads = await readHeads(getHeads(io, inputs, options), { keys, cwd: io.cwd, signal: io.signal });
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
  /** Valid files by what is not proved of them. */
  const notProved = new Map<string, number>();
  const fault = async (message: string, file?: string): Promise<void> => {
    tally.damaged += 1;
    // Known even if the reader of the output goes away before the end.
    io.exitCode = DAMAGED;
    await print(io, options.json ? { event: 'damage', file, message } : message);
  };
  const kinds = new Set(inputs.bundles.map(kindOfFolders));
  const ends = checkEnds(known, heads, (head) => 'kind' in head && kinds.has(head.kind));
  for (const message of [...known.faults, ...ends.faults]) await fault(message);
  for (const { path, fault: why } of inputs.unreadable) await fault(why, path);
  for (const file of inputs.misnamed) {
    await fault(
      `${file} is not named like a bundle, <first block>-<last block>.json.gz, and cannot be verified.`,
      file,
    );
  }
  const partly = known.faults.length + ends.faults.length > 0;
  const tasks: FileTask[] = [];
  let differs = false;
  for (const file of inputs.bundles) {
    const candidates = entriesOfFile(file, known.byRange.get(rangeName(file)) ?? []);
    if (candidates.length === 0) await fault(unknownFault(file, partly), file.path);
    else {
      const { path: shown, version } = file;
      const full = path.resolve(io.cwd, shown);
      tasks.push({ file, candidates, full, shown, version, deep: options.deep === true });
    }
  }
  for await (const { task, verdict } of checkFiles(tasks, { threads, signal: io.signal })) {
    const { file, candidates } = task;
    const own = 'entry' in verdict ? [verdict.entry] : candidates;
    for (const entry of own) present.add(getFile(entry));
    if ('fault' in verdict) {
      differs = true;
      await fault(verdict.fault, file.path);
    } else {
      tally.files += 1;
      tally.bytes += verdict.entry.bytes;
      const { network, kind, sequence, version, notProved: gaps } = verdict.entry;
      for (const { proof, because } of gaps ?? []) {
        const what = `${toLog(verdict.entry)}: not proved: ${proof}: ${because}`;
        notProved.set(what, (notProved.get(what) ?? 0) + 1);
      }
      if (options.json) {
        await print(io, { event: 'ok', file: file.path, network, kind, sequence, version, notProved: gaps });
      }
    }
  }
  for (const file of inputs.tables) {
    const verdict = await known.tables.check(file, path.resolve(io.cwd, file.path), io.signal);
    if ('fault' in verdict) await fault(verdict.fault, file.path);
    else {
      const { network, table, sequence, bytes } = verdict.entry;
      tally.files += 1;
      tally.bytes += bytes;
      if (options.json) await print(io, { event: 'ok', file: file.path, network, table, sequence });
    }
  }
  for (const entries of known.byRange.values()) {
    for (const entry of entries) if (!present.has(getFile(entry))) noteAbsent(known, entry);
  }
  if (!options.json) {
    for (const [what, files] of notProved) await print(io, `In ${counted(files, 'file')} of ${what}`);
  }
  const failed = await summarise(io, options, { ...known, ends }, tally);
  if (differs && !options.json) {
    await print(io, 'To replace damaged files of a pull, run the same packhouse pull with --check.');
  }
  return failed;
}

function getFile({ network, kind, from: start, to: end }: SealedEntry): string {
  return `${network}/${kind}/${start}-${end}`;
}

type FileTask = CheckTask & { file: BundleFile };

function unknownFault(file: BundleFile, partly: boolean): string {
  const kind = kindOfFolders(file);
  const where = partly ? 'in the verified part of the manifest' : 'in the manifest';
  const what = kind === undefined ? 'no bundle' : `no bundle of ${kind}`;
  return `${file.path} is not ${where}: ${what} has its range.`;
}

async function summarise(
  io: CliIo,
  options: VerifyOptions,
  known: Known & { ends: Ends },
  tally: { files: number; bytes: number; damaged: number },
): Promise<boolean> {
  const ofBundles = [...known.absent].map(([log, { bundles, ranges }]) => ({
    log,
    bundles,
    ranges: unionRanges(ranges),
  }));
  const absent = [...ofBundles, ...known.tables.missing()];
  const missing = absent.reduce((sum, { bundles }) => sum + bundles, 0);
  const { entries } = known;
  const keys = [...new Set(known.logs.flatMap(({ keyIds }) => keyIds))];
  const { whole, parts, notChecked } = known.ends;
  const failed = tally.damaged > 0 || (options.complete === true && missing > 0);
  if (options.json) {
    const missingRanges = absent.map((each) => ({ ...each, ranges: each.ranges.map(toPublicRange) }));
    const manifest = { keys, completeThroughHead: whole, parts, endNotVerified: notChecked };
    const end = { event: 'end', ok: !failed, deep: options.deep === true };
    await print(io, { ...end, ...tally, entries, ...manifest, missing, missingRanges });
    return failed;
  }
  for (const { log, bundles, ranges } of absent) {
    await print(io, `Missing: ${counted(bundles, 'file')} of ${log}: ${shownRanges(ranges)}.`);
  }
  const good = `${counted(tally.files, 'valid file')} (${formatBytes(tally.bytes)}${options.deep === true ? ', contents verified' : ', contents not verified without --deep'})`;
  const bad = tally.damaged === 0 ? 'no damage' : counted(tally.damaged, 'fault');
  const signed = keys.length === 0 ? '' : `, signed with key ${keys.join(', ')}`;
  await print(
    io,
    `${good}, ${bad}, ${formatCount(missing)} missing; ${counted(entries, 'manifest entry', 'manifest entries')} verified${signed}${endsText(known.ends)}.`,
  );
  return failed;
}

/** How far the ends of the manifests are known; begins with a semicolon, or is empty. */
function endsText({ whole, parts, notChecked }: Ends): string {
  const upTo = whole.map(({ log, signedAt }) => `${log}: ${signedAt}`).join(', ');
  const without = notChecked.join(', ');
  return [
    whole.length === 0 ? '' : `; complete through the signed head (${upTo})`,
    parts.length === 0
      ? ''
      : `; part of the manifest, in which a newer version of a file may be left out (${parts.join(', ')})`,
    notChecked.length === 0 ? '' : `; end not verified without a signed head (${without})`,
  ].join('');
}

function shownRanges(ranges: readonly BlockRange[]): string {
  const more = ranges.length > SHOWN ? ` and ${formatCount(ranges.length - SHOWN)} more ranges` : '';
  return ranges.slice(0, SHOWN).map(rangeName).join(', ') + more;
}

/** Signed heads: those named, those in the folders, and those of the gateways that manifests are read from. */
function getHeads(io: CliIo, inputs: Inputs, options: VerifyOptions): Source[] {
  const apiKey = toApiKey(io, options);
  const bases = (options.manifest ?? []).filter(isBase);
  const named = options.head ?? inputs.heads;
  return [...new Set([...named, ...bases])].map((text) => {
    const source = getSource(text);
    return 'file' in source ? source : { url: headUrl(source.url, apiKey) };
  });
}

function toApiKey(io: CliIo, options: VerifyOptions): string | undefined {
  return options.apiKey ?? (io.env.PACKHOUSE_API_KEY || undefined);
}

function getManifests(io: CliIo, inputs: Inputs, options: VerifyOptions): Source[] {
  const apiKey = toApiKey(io, options);
  const kinds = [...new Set(inputs.bundles.flatMap((file) => kindOfFolders(file) ?? []))];
  const given = (options.manifest ?? []).flatMap((text): Source[] => {
    const source = getSource(text);
    if ('file' in source) return [source];
    const ofBundles = inputs.bundles.length > 0 || inputs.tables.length === 0;
    return [
      ...(ofBundles ? manifestUrls(source.url, apiKey, { kinds, tables: false }) : []),
      ...(inputs.tables.length > 0 && isBase(source.url)
        ? manifestUrls(source.url, apiKey, { kinds: [], tables: true })
        : []),
    ].map((url) => ({ url }));
  });
  const sources = given.length > 0 ? given : inputs.manifests.map((file) => ({ file }));
  if (sources.length > 0) return sources;
  throw usageError(
    'There is no manifest.',
    'Give one with --manifest, or put it into the folder as <name>.jsonl.',
  );
}

function getKeys(inputs: Inputs, options: VerifyOptions, manifests: readonly Source[]): Source[] {
  if (options.key !== undefined) return options.key.map(getSource);
  if (inputs.keys.length > 0) return inputs.keys.map((file) => ({ file }));
  const [first] = manifests;
  if (first !== undefined && 'url' in first) {
    return [{ url: new URL('/.well-known/packhouse-manifest-keys.json', first.url).href }];
  }
  throw usageError(
    'There is no public key for the manifest.',
    'Give the JSON of /.well-known/packhouse-manifest-keys.json with --key, or put it into the folder under that name.',
  );
}
