import type { Command } from 'commander';
import { requirePackages } from '../installation/packages.js';
import { describeCommand } from '../terminal/command.js';
import type { CliIo } from '../terminal/io.js';

const PROCESSES = {
  gateway: 'Run the gateway: pointers, downloads and JSON-RPC for API clients',
  ingester: 'Run an ingester: plan, follow the head, fetch, prove and stage',
  packer: 'Run a packer: pack, publish and reclaim',
  console: 'Run the console: the web pages and the API for operators',
} as const;
type Process = keyof typeof PROCESSES;

/** Settings of a process in the foreground unless the environment sets them. */
const DEFAULTS: Readonly<Record<string, Record<string, string>>> = { gateway: { GATEWAY_WORKERS: 'cores' } };

/** `packhouse gateway|ingester|packer|console`: this process becomes the service, configured by the environment. */
export function addProcessCommands(program: Command, io: CliIo): void {
  for (const [name, description] of Object.entries(PROCESSES) as [Process, string][]) {
    describeCommand(
      program.command(name),
      `${description}. Configured by the environment, see docs/settings.md`,
      `DATABASE_URL=… NETWORKS_FILE=networks.yaml OBJECT_STORE=s3://bucket/prefix packhouse ${name}`,
    )
      .option('--json', 'No effect: logs are JSON lines on stderr')
      .action(() => {
        requirePackages(`\`packhouse ${name}\``, [name]);
        io.service = { main: import.meta.resolve(`@packhouse/${name}/main`), env: DEFAULTS[name] ?? {} };
      });
  }
}
