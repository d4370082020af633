import { loadNetworks, type Network } from '@packhouse/networks';
import { type Chart, examine } from '@packhouse/operations';
import { keyFileWarning } from '@packhouse/pipeline';
import type { Command } from 'commander';
import { commandContext } from '../installation/context.js';
import { signingKeyFile } from '../installation/data-directory.js';
import { findNetworksFile } from '../installation/find-networks.js';
import { addCommand } from '../terminal/command.js';
import { type CliIo, print } from '../terminal/io.js';
import { parseInteger, usageError } from '../terminal/parse.js';
import { chartJson, chartTable, findingLines, getVerdict, summaryLines } from './describe-charts.js';

interface DoctorOptions {
  networks?: string;
  network?: string;
  timeout: string;
  json?: boolean;
}

/** The timeout of a network, in timeouts of a request. */
const LIMIT_FACTOR = 9;

/** `packhouse doctor`. */
export function addDoctorCommand(program: Command, io: CliIo): void {
  addCommand(
    program,
    'doctor',
    'Check every upstream of the networks file, and the permissions of the signing key; exit code 2 for findings, 69 if a network has no usable upstream',
    '--networks networks.yaml --network ethereum',
  )
    .option('--networks <file>', 'Networks file (default: NETWORKS_FILE, or that of `packhouse local`)')
    .option('--network <id>', 'Only this network')
    .option('--timeout <ms>', 'Timeout per request in milliseconds', '5000')
    .option('--json', 'Print one JSON object per upstream, and a summary')
    .action(async (options: DoctorOptions) => {
      const timeoutMs = parseInteger(options.timeout, '--timeout', 1, 600_000);
      const networks = chosen(
        await loadNetworks(getNetworksFile(io, options.networks), io.env),
        options.network,
      );
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
  const verdict = getVerdict(charts, warning === null ? 0 : 1);
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

function getNetworksFile(io: CliIo, given: string | undefined): string {
  const file = findNetworksFile(io, { given });
  if (file !== null) return file;
  throw usageError(
    'There is no networks file.',
    'Name one with --networks or NETWORKS_FILE; networks.example.yaml is an example.',
  );
}

function chosen(networks: readonly Network[], id: string | undefined): readonly Network[] {
  if (id === undefined) return networks;
  const found = networks.filter((network) => network.id === id);
  if (found.length > 0) return found;
  throw usageError(
    `The networks file has no network "${id}".`,
    `It has ${networks.map((one) => one.id).join(', ')}.`,
  );
}
