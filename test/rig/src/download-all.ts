import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { KINDS, type Kind } from '@packhouse/chain';

/** Where a holder of a key reads: addresses of a gateway's network. */
export interface KeyHolder {
  apiKey: string;
  baseUrl: string;
  downloadUrl: string;
}

/**
 * Downloads everything of these kinds into a folder, with its manifests and keys, as `packhouse verify` reads it, by
 * HTTP alone. Returns the number of files; throws if an answer is no 200.
 */
export async function downloadAll(
  folder: string,
  { apiKey, baseUrl, downloadUrl }: KeyHolder,
  kinds: readonly Kind[] = KINDS,
): Promise<number> {
  const get = async (url: string): Promise<Buffer> => {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } });
    const body = Buffer.from(await answer.arrayBuffer());
    if (answer.status !== 200) throw new Error(`${url} answers ${answer.status}: ${body.subarray(0, 200)}`);
    return body;
  };
  let files = 0;
  for (const kind of kinds) {
    await mkdir(path.join(folder, kind), { recursive: true });
    const manifest = (await get(`${baseUrl}${apiKey}/bundle-api/manifest?kind=${kind}`)).toString();
    await writeFile(path.join(folder, `${kind}.jsonl`), manifest);
    for (const line of manifest.trimEnd().split('\n')) {
      const { from, to } = JSON.parse(line) as { from: number; to: number };
      const name = `${kind}/${from}-${to}.json.gz`;
      await writeFile(path.join(folder, name), await get(`${downloadUrl}/${name}`));
      files += 1;
    }
  }
  const keys = await get(new URL('/.well-known/packhouse-manifest-keys.json', baseUrl).href);
  await writeFile(path.join(folder, 'packhouse-manifest-keys.json'), keys);
  return files;
}
