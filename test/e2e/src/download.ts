import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Kind } from '@packhouse/chain';
import { expect } from 'vitest';
import type { GatewayReader } from './gateway-reader.js';

/** Downloads everything of these kinds into a folder, with its manifests and keys, by HTTP alone. Returns the number of files. */
export async function download(
  folder: string,
  gateway: GatewayReader,
  kinds: readonly Kind[],
): Promise<number> {
  let files = 0;
  for (const kind of kinds) {
    await mkdir(path.join(folder, kind), { recursive: true });
    const manifest = await fetch(`${gateway.baseUrl}${gateway.apiKey}/bundle-api/manifest?kind=${kind}`);
    expect(manifest.status).toBe(200);
    const text = await manifest.text();
    await writeFile(path.join(folder, `${kind}.jsonl`), text);
    for (const line of text.trimEnd().split('\n')) {
      const { from, to } = JSON.parse(line) as { from: number; to: number };
      const name = `${from}-${to}.json.gz`;
      const answer = await gateway.ask(`${gateway.downloadUrl}/${kind}/${name}`);
      expect(answer.status).toBe(200);
      await writeFile(path.join(folder, kind, name), Buffer.from(await answer.arrayBuffer()));
      files += 1;
    }
  }
  const keys = await fetch(new URL('/.well-known/packhouse-manifest-keys.json', gateway.baseUrl));
  await writeFile(path.join(folder, 'packhouse-manifest-keys.json'), await keys.text());
  return files;
}
