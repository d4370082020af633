import { PackhouseError } from '@packhouse/runtime';
import { isFreePort, nextFreePort } from './free-port.js';
import type { LocalRun } from './local-run.js';
import { createMetricsAddresses } from './metrics-addresses.js';
import type { Reporter } from './report.js';
import { startPart } from './start-part.js';
import type { Supervised } from './supervise.js';

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

/** A free port for the gateway, from `requested` on; another one is reported. Throws PORT_IN_USE. */
export async function gatewayPort(requested: number, reporter: Reporter): Promise<number> {
  const port = await nextFreePort(requested);
  if (port === null) {
    throw new PackhouseError({
      code: 'PORT_IN_USE',
      message: `Port ${requested} and the hundred after it are in use.`,
      hint: 'Give another one with --port.',
    });
  }
  if (port !== requested) reportPort(reporter, requested, port);
  return port;
}

function reportPort(reporter: Reporter, requested: number, port: number): void {
  reporter.event(
    { event: 'port', requested, port },
    `Port ${requested} is in use; the gateway takes ${port}.`,
  );
}

/** Starts the processes, with the gateway at `first` if it is free, and keeps them running; `added` are settings. */
export function startProcesses(
  run: LocalRun,
  first: number,
  added: Readonly<Record<string, string | undefined>>,
): LocalProcesses {
  const { io, reporter } = run;
  let port = first;
  const metrics = createMetricsAddresses(io, reporter);
  const metricsOrder = ['ingester', 'packer', 'gateway'];
  let fail: (error: PackhouseError) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);
  const start = (name: string): Supervised =>
    startPart(run, {
      name,
      env: () => ({
        // Links of webhooks lead to the local gateway.
        ...(name === 'packer' && { PUBLIC_URL: io.env.PUBLIC_URL || `http://127.0.0.1:${port}` }),
        ...added,
        ...metrics.env(metricsOrder.indexOf(name)),
        PORT: String(port),
        HOST: io.env.HOST ?? '127.0.0.1',
      }),
      onMessage(message) {
        if (message.type === 'metrics') metrics.heard(name, message.port);
      },
      onGone: fail,
      async putRight(code) {
        // Another program took the port first, perhaps another start at the same moment.
        if (name !== 'gateway' || code !== 'PORT_IN_USE' || port === 65_535) return false;
        // It may have been the port of its metrics: one that the operator chose is not replaced.
        if (metrics.isChosen && (await isFreePort(port))) return false;
        const next = await nextFreePort(port + 1);
        if (next === null) return false;
        reportPort(reporter, port, next);
        port = next;
        return true;
      },
    });
  const children = ['gateway', 'ingester', 'packer'].map(start);
  run.onClose(async () => {
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
