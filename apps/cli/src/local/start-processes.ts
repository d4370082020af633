import { PackhouseError, type ProcessMessage } from '@packhouse/runtime';
import type { DataDirectory } from '../installation/data-directory.js';
import type { CliIo } from '../terminal/io.js';
import { isFreePort, nextFreePort } from './free-port.js';
import { noteChild } from './leftovers.js';
import { createMetricsAddresses } from './metrics-addresses.js';
import type { Reporter } from './report.js';
import { type Supervised, supervise } from './supervise.js';

/** Exit code if a process had to abort work to end in time; the next start does that work. */
const NOT_DRAINED = 75;

interface LocalProcesses {
  ready: Promise<unknown>;
  /** Rejects when one of them ended for good. */
  failed: Promise<never>;
  /** The gateway's port; final once all are ready. */
  port(): number;
  /** Addresses of the metrics by name; complete once all are ready. */
  metrics(): Record<string, string>;
}

/** A free port for the gateway, from `wanted` on; another one is reported. Throws PORT_IN_USE. */
export async function gatewayPort(wanted: number, reporter: Reporter): Promise<number> {
  const port = await nextFreePort(wanted);
  if (port === null) {
    throw new PackhouseError({
      code: 'PORT_IN_USE',
      message: `Port ${wanted} and the hundred after it are in use.`,
      hint: 'Give another one with --port.',
    });
  }
  if (port !== wanted) sayPort(reporter, wanted, port);
  return port;
}

function sayPort(reporter: Reporter, wanted: number, port: number): void {
  const line = `Port ${wanted} is in use; the gateway takes ${port}.`;
  reporter.event({ event: 'port', wanted, port }, line);
}

/** Starts the processes and keeps them running. */
export function startProcesses(parts: {
  io: CliIo;
  directory: DataDirectory;
  port: number;
  /** Added to this process's own environment. */
  env: Record<string, string | undefined>;
  reporter: Reporter;
  onClose: (close: () => Promise<unknown>) => void;
}): LocalProcesses {
  const { io, directory, reporter } = parts;
  let port = parts.port;
  const metrics = createMetricsAddresses(io, reporter);
  const metricsOrder = ['ingester', 'packer', 'gateway'];
  const env = (name: string) => ({
    ...io.env,
    ...parts.env,
    ...metrics.env(metricsOrder.indexOf(name)),
    OBJECT_STORE: io.env.OBJECT_STORE ?? directory.in('objects'),
    PORT: String(port),
    HOST: io.env.HOST ?? '127.0.0.1',
  });
  let fail: (error: PackhouseError) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);
  const onMessage = (name: string, message: ProcessMessage): void => {
    if (message.type === 'problem') reporter.problem(name, message.message, message.code);
    if (message.type === 'metrics') metrics.heard(name, message.port);
  };
  const start = (name: string): Supervised =>
    supervise({
      name,
      env: () => env(name),
      logFile: directory.in('logs', `${name}.log`),
      onMessage,
      onGone: fail,
      onStart: (pid) => noteChild(directory, name, pid),
      async putRight(code) {
        // Another program took the port first, perhaps another start at the same moment.
        if (name !== 'gateway' || code !== 'PORT_IN_USE' || port === 65_535) return false;
        // It may have been the port of its metrics: one that the operator chose is not replaced.
        if (metrics.isChosen && (await isFreePort(port))) return false;
        const next = await nextFreePort(port + 1);
        if (next === null) return false;
        sayPort(reporter, port, next);
        port = next;
        return true;
      },
    });
  const children = ['gateway', 'ingester', 'packer'].map(start);
  const killAll = (): void => {
    for (const child of children) child.kill();
  };
  io.hurry?.addEventListener('abort', killAll, { once: true });
  parts.onClose(async () => {
    const ends = await Promise.all(children.map((child) => child.stop()));
    if (io.exitCode === 0 && ends.some(({ clean }) => !clean)) io.exitCode = NOT_DRAINED;
  });
  return {
    ready: Promise.all(children.map((child) => child.ready)),
    failed,
    port: () => port,
    metrics: () => metrics.all(),
  };
}
