import { gunzipSync } from 'node:zlib';
import type { Kind } from '@packhouse/chain';
import type { Program } from '@packhouse/local';
import type { KeyHolder } from '@packhouse/rig';
import { expect } from 'vitest';

interface Pointer {
  type: string;
  range: string;
  download_link: string;
}

/** What a holder of a key does: asks for pointers, downloads what they name. */
export interface GatewayReader extends KeyHolder {
  /** The pointer of a block; anything but a 200 fails the test. */
  pointer(kind: Kind, block: number): Promise<Pointer>;
  /** A file's records; anything but a 200 fails the test. */
  records(link: string): Promise<unknown[]>;
  /** The bare answer for a file. */
  ask(link: string): Promise<Response>;
}

/** Reads behind the gateway of a `packhouse local` that is ready. */
export async function gatewayReader(cli: Program): Promise<GatewayReader> {
  return readerOf((await cli.event('ready')) as unknown as KeyHolder);
}

/** Reads behind a gateway. */
export function readerOf({ apiKey, baseUrl, downloadUrl }: KeyHolder): GatewayReader {
  const ask = (link: string): Promise<Response> =>
    fetch(link, { headers: { authorization: `Bearer ${apiKey}` } });
  return {
    apiKey,
    baseUrl,
    downloadUrl,
    ask,
    async pointer(kind, block) {
      const response = await fetch(`${baseUrl}${apiKey}/bundle-api/${kind}/${block}`);
      expect(response.status, `pointer of ${kind} ${block}`).toBe(200);
      return (await response.json()) as Pointer;
    },
    async records(link) {
      const response = await ask(link);
      expect(response.status, link).toBe(200);
      return JSON.parse(gunzipSync(Buffer.from(await response.arrayBuffer())).toString()) as unknown[];
    },
  };
}
