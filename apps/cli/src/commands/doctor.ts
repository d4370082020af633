import { existsSync } from 'node:fs';
import path from 'node:path';
import { loadNetworks, type Network } from '@packhouse/networks';
import { keyFileWarning } from '@packhouse/pipeline';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import type { Chart } from '../doctor/chart.js';
import { chartJson, chartTable, findingLines, summaryLines, verdictOf } from '../doctor/describe-charts.js';
import { examine } from '../doctor/examine.js';
import { commandContext } from '../installation/connect.js';
import { DATA_DIRECTORY, signingKeyFile } from '../installation/data-directory.js';
import { type CliIo, print } from '../terminal/io.js';
import { parseInteger } from '../terminal/parse.js';

interface DoctorOptions {
  networks?: string;
  network?: string;
  timeout: string;
  json?: boolean;
}

/** All questions about a network take this many times as long as one may. */
const LIMIT_FACTOR = 9;

/** `packhouse doctor`. */
export function addDoctorCommand(program: Command, io: CliIo): void {
  program
    .command('doctor')
    .description(
      'examine every upstream of the networks file, and the permissions of the signing key; exit code 2: something is to be looked at, 69: a network has no usable upstream',
    )
    .option(
      '--networks <file>',
      'the networks file (default: NETWORKS_FILE, else that of `packhouse local` here)',
    )
    .option('--network <id>', 'only this network')
    .option('--timeout <ms>', 'for each answer, in milliseconds', '5000')
    .option('--json', 'print one JSON object an upstream, and one for the whole')
    .addHelpText('after', '\nExample:\n  $ packhouse doctor --networks networks.yaml --network ethereum')
    .action(async (options: DoctorOptions) => {
      const timeoutMs = parseInteger(options.timeout, '--timeout', 1, 600_000);
      const networks = chosen(await loadNetworks(fileOf(io, options.networks), io.env), options.network);
      const context = commandContext(io);
      const limitMs = timeoutMs * LIMIT_FACTOR;
      const charts = await Promise.all(
        networks.map((each) => examine(each, { context, timeoutMs, limitMs })),
      );
      const warning = await keyFileWarning(signingKeyFile(io));
      await report(io, charts, { json: options.json ?? false, warning });
    });
}

/** `warning` is about the signing key. */
async function report(
  io: CliIo,
  charts: readonly Chart[][],
  { json, warning }: { json: boolean; warning: string | null },
): Promise<void> {
  const all = charts.flat();
  const verdict = verdictOf(charts, warning === null ? 0 : 1);
  io.exitCode = verdict.exitCode;
  if (json) {
    for (const chart of all) await print(io, chartJson(chart));
    if (warning !== null) await print(io, { event: 'warning', message: warning });
    await print(io, { event: 'result', ...verdict });
    return;
  }
  await print(io, chartTable(all));
  const findings = [...all.flatMap(findingLines), ...(warning === null ? [] : [`warn: ${warning}`])];
  if (findings.length > 0) await print(io, `\n${findings.join('\n')}`);
  await print(io, `\n${summaryLines(charts).join('\n')}`);
}

function fileOf(io: CliIo, given: string | undefined): string {
  const named = given ?? io.env.NETWORKS_FILE ?? '';
  if (named !== '') return path.resolve(io.cwd, named);
  const local = path.join(io.cwd, DATA_DIRECTORY, 'networks.json');
  if (existsSync(local)) return local;
  throw new PackhouseError({
    code: 'USAGE',
    message: 'There is no networks file to examine.',
    hint: 'Name one with --networks or NETWORKS_FILE; networks.example.yaml shows what is in it.',
  });
}

function chosen(networks: readonly Network[], id: string | undefined): readonly Network[] {
  if (id === undefined) return networks;
  const found = networks.filter((network) => network.id === id);
  if (found.length > 0) return found;
  throw new PackhouseError({
    code: 'USAGE',
    message: `There is no network "${id}" in the networks file; there are ${networks.map((one) => one.id).join(', ')}.`,
    hint: 'Leave --network out for all of them.',
  });
}
