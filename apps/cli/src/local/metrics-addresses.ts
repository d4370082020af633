import type { Reporter } from './report.js';

/** Where each process of `packhouse local` serves its metrics. */
export interface MetricsAddresses {
  /** What a worker process is told; the n-th one has a port of its own where METRICS_PORT names one. */
  env(index: number): { METRICS_PORT: string; METRICS_HOST: string };
  /** Hears a port from a process; a change after the first start is said. */
  heard(name: string, port: number): void;
  /** Addresses by process, the gateway's too. */
  all(gatewayPort: number): Record<string, string>;
}

/**
 * Hands out metrics ports: METRICS_PORT and those after it, none where it is 0, and any free one where it is not set.
 * They are open to this machine only unless METRICS_HOST says otherwise.
 */
export function createMetricsAddresses(
  io: { env: Readonly<Record<string, string | undefined>> },
  reporter: Reporter,
): MetricsAddresses {
  const host = io.env.METRICS_HOST || '127.0.0.1';
  const wanted = io.env.METRICS_PORT || 'any';
  const ports = new Map<string, number>();
  const url = (port: number): string =>
    `http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host}:${port}/metrics`;
  return {
    env: (index) => ({
      METRICS_PORT: /^[1-9]\d*$/.test(wanted) ? String(Number(wanted) + index) : wanted,
      METRICS_HOST: host,
    }),
    heard(name, port) {
      const before = ports.get(name);
      ports.set(name, port);
      if (before !== undefined && before !== port)
        reporter.event(
          { event: 'metrics', process: name, url: url(port) },
          `Metrics of the ${name} are at ${url(port)} now`,
        );
    },
    all: (gatewayPort) => ({
      gateway: `http://127.0.0.1:${gatewayPort}/metrics`,
      ...Object.fromEntries([...ports].sort().map(([name, port]) => [name, url(port)])),
    }),
  };
}
