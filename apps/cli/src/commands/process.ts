import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import type { CliIo } from '../terminal/io.js';

const PROCESSES = {
  gateway: 'serve pointers and downloads to holders of a key',
  ingester: 'plan, follow the head, fetch, prove and stage',
  packer: 'pack, publish and reclaim',
  console: 'serve the pages and the API with which operators steer Packhouse',
} as const;

/** What a process in the foreground has unless it is set. */
const DEFAULTS: Readonly<Record<string, Record<string, string>>> = { gateway: { GATEWAY_WORKERS: 'cores' } };

/** `packhouse gateway|ingester|packer|console`: one process in the foreground, set up by the environment. */
export function addProcessCommands(program: Command, io: CliIo): void {
  for (const [name, description] of Object.entries(PROCESSES)) {
    program
      .command(name)
      .description(`${description}; reads its settings from the environment (.env.example)`)
      .option('--json', 'no effect: the log is JSON lines on stderr anyway')
      .addHelpText(
        'after',
        `\nExample:\n  $ DATABASE_URL=… NETWORKS_FILE=networks.yaml OBJECT_STORE=s3://bucket/prefix packhouse ${name}`,
      )
      .action(async () => {
        const main = fileURLToPath(import.meta.resolve(`@packhouse/${name}/main`));
        const child = spawn(process.execPath, [main], {
          stdio: 'inherit',
          env: { ...DEFAULTS[name], ...io.env },
          detached: true,
        });
        io.signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
        io.hurry?.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
        const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
        io.exitCode = code ?? (signal === null ? 1 : 75);
      });
  }
}
