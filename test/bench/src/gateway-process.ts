import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { plainEnvironment, type Scope } from '@packhouse/local';
import type { ProcessMessage } from '@packhouse/runtime';
import { startNode } from './child.js';
import type { Place } from './place.js';

/** A gateway in a separate process, as `packhouse gateway` runs it. */
export interface GatewayProcess {
  /** No slash at the end. */
  url: string;
  /** A key of the plan without limits. */
  apiKey: string;
  child: ChildProcess;
}

/**
 * Starts the built gateway on a free port over the place's database; resolves when it is ready. `objects`: a folder, or
 * what else OBJECT_STORE takes; `workers` by default 1; `env` overrides.
 */
export async function startGateway(
  scope: Scope,
  place: Place,
  parts: { networksFile: string; objects: string; workers?: number; env?: Readonly<Record<string, string>> },
): Promise<GatewayProcess> {
  const file = path.join(place.directory, 'networks.json');
  await writeFile(file, parts.networksFile);
  const { key } = await place.database.keys.create({
    application: 'bench',
    network: null,
    plan: 'unlimited',
  });
  const child = startNode(scope, 'apps/gateway/dist/main.js', [], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...plainEnvironment(process.env),
      DATABASE_URL: place.url,
      NETWORKS_FILE: file,
      OBJECT_STORE: parts.objects,
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'warn',
      // As a primary starts its workers: see apps/gateway/src/main.ts.
      NODE_OPTIONS: '--max-semi-space-size=32',
      GATEWAY_WORKERS: String(parts.workers ?? 1),
      ...parts.env,
    },
  });
  const port = await ready(child);
  return { url: `http://127.0.0.1:${port}`, apiKey: key, child };
}

async function ready(child: ChildProcess): Promise<number> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the gateway ended with ${code}`);
  });
  ended.catch(() => undefined);
  let port = 0;
  for (;;) {
    const [message] = (await Promise.race([once(child, 'message'), ended])) as [ProcessMessage];
    if (message.type === 'listening') port = message.port;
    if (message.type === 'ready') return port;
    if (message.type === 'fatal') throw new Error(message.message);
  }
}
