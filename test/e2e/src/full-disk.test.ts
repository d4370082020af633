import { execFile } from 'node:child_process';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { createReplayNode, generateChain } from '@packhouse/replay-node';
import { expect, inject, test } from 'vitest';
import { getChildren } from './processes.js';
import { checkPublished } from './published.js';
import { startLocal } from './start-local.js';
import { end, makeWorkspace } from './workspace.js';

const run = promisify(execFile);
const FIRST = 1_000;
const MIDDLE = 1_031;
const LAST = 1_063;
const chain = generateChain({
  length: LAST - FIRST + 1,
  txsPerBlock: 6,
  logsPerTx: 2,
  tracesPerTx: 3,
  seed: 9,
  startNumber: FIRST,
});

/** Objects that have their name, by the path of the file. */
async function objectsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json.gz'))
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** Writes a file until there is no space left at all. */
async function fillDisk(file: string): Promise<void> {
  const handle = await open(file, 'w');
  try {
    for (const size of [65_536, 1]) {
      const filling = Buffer.alloc(size);
      while (await handle.write(filling).catch(() => null)) {
        // One more.
      }
    }
  } finally {
    await handle.close();
  }
}

test('a full disk under objects and logs: said by name, nothing half published, and it goes on when there is space (needs root and mount)', async (context) => {
  const workspace = await makeWorkspace(inject('postgresUrl'));
  const small = path.join(workspace.directory, 'small');
  await mkdir(small);
  const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'none', small]).then(
    () => true,
    () => false,
  );
  if (!mounted) {
    await workspace.remove();
    return context.skip('this machine lets nobody mount');
  }
  const node = await createReplayNode({ blocks: chain, head: MIDDLE });
  const cli = startLocal({ ...workspace, directory: small }, { rpc: [node.url], from: FIRST, to: LAST });
  try {
    await cli.event('progress', (event) => (event.staged as number) === MIDDLE - FIRST + 1);
    const processes = async (): Promise<number[]> =>
      (await getChildren(cli.child.pid as number)).map((child) => child.pid);
    const before = await processes();
    expect(before).toHaveLength(3);
    await fillDisk(path.join(small, 'filling'));
    node.setHead(LAST);
    const problem = await cli.event('problem', (event) => event.part === 'packer');
    expect(problem.message).toMatch(/could not be written to .*ENOSPC.*Free .*space.*\[DISK_FULL\]$/);
    expect(await objectsIn(path.join(small, 'objects'))).toEqual([]);
    expect(cli.events.filter((event) => event.event === 'published')).toEqual([]);
    expect(await processes(), 'a log that cannot be written ends no process').toEqual(before);

    await rm(path.join(small, 'filling'));
    expect(await cli.exit, cli.stderr()).toBe(0);
    const keys = await checkPublished({ ...workspace, directory: small }, chain, 'ethereum');
    expect((await objectsIn(path.join(small, 'objects'))).length).toBe(keys.length);
  } finally {
    await end(cli);
    await node.close();
    await run('umount', [small]);
    await workspace.remove();
  }
});
