import type { Reporter } from './report.js';

interface MetricsAddresses {
  /** The settings of the n-th process. */
  env(index: number): { METRICS_PORT: string; METRICS_HOST: string };
  /** Whether METRICS_PORT names the ports. */
  isChosen: boolean;
  /** Notes the port of a process; reported if it changes. */
  heard(name: string, port: number): void;
  /** Addresses by process. */
  all(): Record<string, string>;
}

/**
 * Chooses the metrics ports: METRICS_PORT and those after it, none if it is 0, free ones if it is not set. They are
 * open to this machine only unless METRICS_HOST says otherwise.
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
  const isChosen = /^[1-9]\d*$/.test(wanted);
  return {
    isChosen,
    env: (index) => ({
      METRICS_PORT: isChosen ? String(Number(wanted) + index) : wanted,
      METRICS_HOST: host,
    }),
    heard(name, port) {
      const before = ports.get(name);
      ports.set(name, port);
      if (before === port) return;
      reporter.log(`Metrics of the ${name}: ${url(port)}`);
      if (before !== undefined) reporter.event({ event: 'metrics', process: name, url: url(port) });
    },
    all: () => Object.fromEntries([...ports].sort().map(([name, port]) => [name, url(port)])),
  };
}
