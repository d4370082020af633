import { readdir, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makePullFolder, type PullFolder } from '../testing/open-folder.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';
import { noteFolder } from './mirror.js';

let gateway: TestGateway;
let folder: PullFolder;
beforeEach(async () => {
  gateway = await startTestGateway();
  gateway.publish(0, 9);
  folder = await makePullFolder();
});
afterEach(async () => {
  await gateway.close();
  await folder.remove();
});

const names = async (): Promise<string[]> => (await readdir(folder.path)).sort();
const refused = () =>
  expect(folder.pull(gateway, { to: '19' })).rejects.toMatchObject({ code: 'RANGE_INCOMPLETE' });

it('a first pull that is refused leaves what was there, and nothing else', async () => {
  await writeFile(folder.at('notes'), '');
  await writeFile(folder.at('_packhouse-manifest-keys.json'), gateway.keys);
  const discard = noteFolder(folder.path, 'logs');
  await refused();
  expect(await names()).toContain('_packhouse-pull.json');
  await discard();
  expect(await names()).toEqual(['_packhouse-manifest-keys.json', 'notes']);
});

it('a later one leaves what the first one made, and so does a first one that got files', async () => {
  const first = noteFolder(folder.path, 'logs');
  await folder.pull(gateway, { to: '9' });
  await first();
  const pulled = await names();
  expect(pulled).toContain('_packhouse-pull.json');
  const later = noteFolder(folder.path, 'logs');
  await refused();
  await later();
  expect(await names()).toEqual(pulled);
});
