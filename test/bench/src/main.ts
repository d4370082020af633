import { existsSync } from 'node:fs';
import path from 'node:path';
import { createCommandLine } from '@packhouse/local';
import { withScope } from '@packhouse/rig';
import { benchBudgets } from './budgets.js';
import { benchCompression } from './compression.js';
import { benchConsole } from './console/console.js';
import { benchCoverage } from './coverage.js';
import { benchDeflate } from './deflate.js';
import { benchDownloads } from './downloads.js';
import { benchExtractToPublished } from './extract-to-published.js';
import { benchFairNetworks } from './fair-networks.js';
import { benchFeed } from './feed.js';
import { benchFilters } from './filters.js';
import { benchFollow } from './follow.js';
import { benchForwarding } from './forwarding.js';
import { benchGiantTraces } from './giant-traces.js';
import { benchIdle } from './idle.js';
import { benchLake } from './lake.js';
import type { BenchOptions } from './options.js';
import { benchPack } from './pack.js';
import { benchPlanning } from './planning.js';
import { benchPointers } from './pointers.js';
import { benchPull } from './pull.js';
import { benchQuote } from './quote.js';
import { type BenchOutcome, renderTable } from './result.js';
import { benchSlowNode } from './slow-node.js';

const BENCHMARKS: Readonly<Record<string, (options: BenchOptions) => Promise<BenchOutcome[]>>> = {
  extract: benchExtractToPublished,
  pack: benchPack,
  pointers: benchPointers,
  coverage: benchCoverage,
  planning: benchPlanning,
  console: benchConsole,
  budgets: benchBudgets,
  quote: benchQuote,
  feed: benchFeed,
  downloads: benchDownloads,
  pull: benchPull,
  follow: benchFollow,
  lake: benchLake,
  forwarding: benchForwarding,
  compression: benchCompression,
  deflate: benchDeflate,
  filters: benchFilters,
  'slow-node': benchSlowNode,
  'giant-traces': benchGiantTraces,
  idle: benchIdle,
  'fair-networks': benchFairNetworks,
};

const HELP = `Measures every budget of this machine against its yardstick, in one run.

  npm run bench [-- [options] [benchmark …]]

Benchmarks: ${Object.keys(BENCHMARKS).join(', ')}; without a name all of them.

  --rows N      rows of the range index for pointers, coverage and feed (default 10000000, about 5 GB of disk)
  --blocks N    blocks of an extract-to-published run, and of what is pulled (default 960)
  --seconds N   length of each measurement under load (default 8)
  --workers N   processes of the gateway (GATEWAY_WORKERS), of nginx and of the empty route each, for forwarding,
                pointers and downloads (default 1)

For extract alone:
  --evm-dump PATH   holds it against subsquid's evm-dump on the same node: PATH is bin/run.js of its package
  --before PATH     holds it against the build of another clone of Packhouse, whose root PATH is
  --rounds N        runs of each of these, in turns; medians are compared (default 3)
  --profile         writes CPU profiles of ingester and packer (with --before: of that clone) to bench-results/, and
                    tells their shares, instead

Examples: npm run bench -- --rows 1000000 pointers downloads
          npm run bench -- --workers 2 --rows 1000000 forwarding pointers downloads
          npm run bench -- --blocks 300 --before ../old --evm-dump ../evm-dump/bin/run.js extract
`;

const { say, usage, read, pick, wholeNumber, endOnSignals, writeResults } = createCommandLine(process, HELP);

/** An absolute path in which `file` is. */
function existing(text: string | undefined, file: string): string | undefined {
  if (text === undefined) return undefined;
  const absolute = path.resolve(text);
  if (existsSync(path.join(absolute, file))) return absolute;
  return usage(`There is no ${path.join(absolute, file)}.`);
}

const { values, positionals } = read({
  allowPositionals: true,
  options: {
    rows: { type: 'string', default: '10000000' },
    blocks: { type: 'string', default: '960' },
    seconds: { type: 'string', default: '8' },
    workers: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '3' },
    'evm-dump': { type: 'string' },
    before: { type: 'string' },
    profile: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
});
const names = pick(positionals, Object.keys(BENCHMARKS), 'benchmark');
const options: Omit<BenchOptions, 'scope'> = {
  rows: wholeNumber(values.rows, 'rows'),
  blocks: wholeNumber(values.blocks, 'blocks'),
  seconds: wholeNumber(values.seconds, 'seconds'),
  workers: wholeNumber(values.workers, 'workers'),
  rounds: wholeNumber(values.rounds, 'rounds'),
  evmDump: existing(values['evm-dump'], ''),
  before: existing(values.before, 'apps/cli/dist/main.js'),
  profile: values.profile,
  say,
};
const isStopping = endOnSignals();
const outcomes: BenchOutcome[] = [];
for (const name of names) {
  say(`${name} …`);
  try {
    outcomes.push(...((await withScope(async (scope) => BENCHMARKS[name]?.({ ...options, scope }))) ?? []));
  } catch (error) {
    // Its servers were stopped: the benchmark is ending.
    if (isStopping()) await new Promise(() => undefined);
    say(`${name} failed: ${(error as Error).stack}`);
    outcomes.push({ name, failed: (error as Error).message });
    process.exitCode = 1;
  }
}
process.stdout.write(`${renderTable(outcomes)}\n\n`);
for (const outcome of outcomes) {
  if ('failed' in outcome) process.stdout.write(`${outcome.name}: FAILED: ${outcome.failed}\n`);
  else if ('note' in outcome && outcome.note !== undefined)
    process.stdout.write(`${outcome.name}: ${outcome.note}\n`);
}
await writeResults('bench-results', { outcomes });
