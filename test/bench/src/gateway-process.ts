import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Scope } from '@packhouse/local';
import * as rig from '@packhouse/rig';
import type { Place } from './place.js';

/** A gateway in a separate process, as `packhouse gateway` runs it. */
export interface GatewayProcess {
  /** No slash at the end. */
  url: string;
  /** A key of the plan without limits. */
  apiKey: string;
  pid: number;
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
  const env = {
    DATABASE_URL: place.url,
    NETWORKS_FILE: file,
    OBJECT_STORE: parts.objects,
    LOG_LEVEL: 'warn',
    // As a primary starts its workers: see apps/gateway/src/main.ts.
    NODE_OPTIONS: '--max-semi-space-size=32',
    GATEWAY_WORKERS: String(parts.workers ?? 1),
    ...parts.env,
  };
  const { url, process } = await rig.startGateway(env, scope);
  return { url, apiKey: key, pid: process.pid };
}

/** Starts the server whose routes do nothing, with so many workers. */
export async function startEmptyServer(
  scope: Scope,
  workers: number,
): Promise<Pick<GatewayProcess, 'url' | 'pid'>> {
  const program = rig.startNode(scope, 'test/bench/dist/empty-server.js', [String(workers)]);
  return { url: `http://127.0.0.1:${await program.firstLine()}`, pid: program.pid };
}
