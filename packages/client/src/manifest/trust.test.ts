import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makePullFolder, type PullFolder } from '../testing/open-folder.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

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

it('a key that the gateway takes later is trusted only if its file is given', async () => {
  await folder.pull(gateway);
  gateway.rotate();
  gateway.publish(10, 19);
  await expect(folder.pull(gateway)).rejects.toMatchObject({
    code: 'MANIFEST_INVALID',
    message: expect.stringContaining('is not among the keys given'),
  });
  await writeFile(folder.at('announced.json'), gateway.keys);
  expect(await folder.pull(gateway, { trustKeyFile: folder.at('announced.json') })).toMatchObject({
    downloaded: 1,
  });
  // Kept from then on.
  gateway.publish(20, 29);
  expect(await folder.pull(gateway)).toMatchObject({ downloaded: 1 });
});

it('pinned keys are the only ones, from the first run on', async () => {
  const other = await startTestGateway();
  await writeFile(folder.at('other.json'), other.keys);
  await other.close();
  await expect(folder.pull(gateway, { trustKeyFile: folder.at('other.json') })).rejects.toMatchObject({
    code: 'MANIFEST_INVALID',
  });
  expect(gateway.requests.filter((path) => path.includes('.well-known'))).toEqual([]);
});

it('a folder that trusts another key than the pinned ones is refused', async () => {
  await folder.pull(gateway);
  const other = await startTestGateway();
  await writeFile(folder.at('other.json'), other.keys);
  await other.close();
  await expect(folder.pull(gateway, { trustKeyFile: folder.at('other.json') })).rejects.toMatchObject({
    code: 'FOLDER_MISMATCH',
  });
});

it('a manifest that became shorter or another one is refused', async () => {
  gateway.publish(10, 19);
  await folder.pull(gateway);
  gateway.entries.pop();
  await expect(folder.pull(gateway)).rejects.toMatchObject({
    code: 'MANIFEST_INVALID',
    message: expect.stringContaining('became shorter'),
  });
  gateway.publish(10, 19, { rawBytes: 1 });
  await expect(folder.pull(gateway)).rejects.toMatchObject({
    code: 'MANIFEST_INVALID',
    message: expect.stringContaining('is forked'),
    hint: expect.stringContaining('delete the files _*'),
  });
  // The way out that the hint names: what the new log names as well is kept.
  await Promise.all(
    (await readdir(folder.path)).filter((name) => name.startsWith('_')).map((name) => rm(folder.at(name))),
  );
  gateway.requests.length = 0;
  expect(await folder.pull(gateway)).toMatchObject({ downloaded: 0 });
});

it('a manifest that ends before its signed head is refused', async () => {
  gateway.fault = (path, response) => {
    if (!path.includes('/manifest?')) return false;
    response.end('');
    return true;
  };
  await expect(folder.pull(gateway)).rejects.toMatchObject({
    code: 'MANIFEST_INVALID',
    message: expect.stringContaining('is cut off'),
  });
});

it('a folder of another network, of another kind or of a newer version is refused', async () => {
  await folder.pull(gateway);
  await expect(
    folder.pull({ ...gateway, url: gateway.url.replace('ethereum', 'other') }),
  ).rejects.toMatchObject({
    code: 'FOLDER_MISMATCH',
    message: expect.stringContaining('/ethereum/v1/, not from http'),
  });
  await expect(folder.pull({ ...gateway, kind: 'blocks' })).rejects.toMatchObject({
    code: 'FOLDER_MISMATCH',
    message: expect.stringContaining('holds logs, not blocks'),
  });
  const state = await readFile(folder.at('_packhouse-pull.json'), 'utf8');
  await writeFile(folder.at('_packhouse-pull.json'), state.replace('pull-1', 'pull-9'));
  await expect(folder.pull(gateway)).rejects.toMatchObject({ code: 'FOLDER_MISMATCH' });
});
