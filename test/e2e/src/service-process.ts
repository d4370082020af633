import path from 'node:path';
import { type Program, startProgram } from '@packhouse/local';

/** A gateway, ingester or packer that runs by itself, as an orchestrator would start it. */
export interface ServiceProcess extends Program {
  /** Its log. */
  log(): string;
  ready: Promise<unknown>;
}

/**
 * Starts one from the build (`root`: from the build in that folder). It is told nothing by anybody but signals; what it
 * says of itself is heard.
 */
export function startService(
  name: 'gateway' | 'ingester' | 'packer',
  env: Record<string, string>,
  within?: readonly string[],
  root = '',
): ServiceProcess {
  const service = startProgram(path.join(root, `apps/${name}/dist/main.js`), [], {
    messages: true,
    within,
    env: {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PORT: '0',
      METRICS_HOST: '127.0.0.1',
      METRICS_PORT: 'any',
      ...env,
    },
  });
  const ready = service.message('ready');
  ready.catch(() => undefined);
  return { ...service, log: () => service.stdout() + service.stderr(), ready };
}
