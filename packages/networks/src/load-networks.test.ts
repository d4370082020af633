import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadNetworks } from './load-networks.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'networks-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('reads a file', async () => {
  const path = join(folder, 'networks.yaml');
  await writeFile(path, 'networks: [{id: a, family: evm, chainId: 5, upstreams: [{url: "${URL}"}]}]');
  const [network] = await loadNetworks(path, { URL: 'http://localhost:1' });
  expect(network?.upstreams[0]?.url).toBe('http://localhost:1');
});

it('names the file that is not there', async () => {
  await expect(loadNetworks(join(folder, 'gone.yaml'), {})).rejects.toMatchObject({
    code: 'NETWORKS_FILE_INVALID',
    message: expect.stringMatching(/gone\.yaml cannot be used: there is no such file/),
  });
});

it('says that a folder is no file', async () => {
  await expect(loadNetworks(folder, {})).rejects.toThrow(/it is a folder/);
});
