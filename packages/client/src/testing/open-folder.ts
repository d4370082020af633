import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gatewayAddress } from '../fetch/gateway-address.js';
import { createHttp, type Wait } from '../fetch/http.js';
import { type MirrorPlan, openMirror, planMirror } from '../mirror/mirror.js';
import { type MirrorFile, mirrorFiles } from '../mirror/mirror-files.js';
import { parseBound } from '../mirror/range.js';
import type { TestGateway } from './test-gateway.js';

/** What a pull did. */
interface Pulled {
  plan: MirrorPlan;
  files: MirrorFile[];
  downloaded: number;
  bytes: number;
  waits: Wait[];
  /** Times that a request was answered that broke before. */
  backs: number;
}

interface PullOptions {
  from?: string;
  to?: string;
  partial?: boolean;
  check?: boolean;
  wholeManifest?: boolean;
  trustKeyFile?: string;
  signal?: AbortSignal;
  /** Called with every file as it comes. */
  onFile?(file: MirrorFile): void;
}

/** A temporary folder to pull into. */
export interface PullFolder {
  path: string;
  at(...names: string[]): string;
  pull(gateway: TestGateway, options?: PullOptions): Promise<Pulled>;
  remove(): Promise<void>;
}

/** Makes a folder to pull into; pauses between tries take no time. */
export async function makePullFolder(): Promise<PullFolder> {
  const folder = await mkdtemp(path.join(tmpdir(), 'packhouse-pull-'));
  return {
    path: folder,
    at: (...names) => path.join(folder, ...names),
    remove: () => rm(folder, { recursive: true, force: true }),
    async pull(
      gateway,
      { from, to, partial = false, check, wholeManifest, trustKeyFile, signal, onFile } = {},
    ) {
      const waits: Wait[] = [];
      const { url, apiKey, kind } = gateway;
      let backs = 0;
      const http = createHttp({
        apiKey,
        onWait: (wait) => waits.push(wait),
        onBack: () => {
          backs += 1;
        },
        sleep: async () => undefined,
      });
      const options = { folder, kind, address: gatewayAddress(url, apiKey), http, trustKeyFile };
      try {
        const mirror = await openMirror({ ...options, signal: signal ?? new AbortController().signal });
        try {
          const plan = await planMirror(mirror, {
            from: from === undefined ? undefined : parseBound(from, 'from'),
            to: to === undefined ? undefined : parseBound(to, 'to'),
            partial,
            check,
            wholeManifest,
          });
          const pulled: Pulled = { plan, files: [], downloaded: 0, bytes: 0, waits, backs };
          for await (const file of mirrorFiles(mirror, plan, (bytes) => {
            pulled.bytes += bytes;
          })) {
            onFile?.(file);
            pulled.files.push(file);
            if (file.state === 'downloaded') pulled.downloaded += 1;
          }
          return { ...pulled, backs };
        } finally {
          await mirror.close();
        }
      } finally {
        await http.close();
      }
    },
  };
}
