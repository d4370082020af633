import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { KINDS } from '@packhouse/chain';
import { CLONE, GIVEN } from '@packhouse/recordings';
import { createReplayNode, type RecordedBlock } from '@packhouse/replay-node';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startCli } from './cli-process.js';
import { checkPublished } from './published.js';
import { makeWorkspace, type Workspace } from './workspace.js';

/** One source, the real one if it is there: other rooms test on both. */
const source = GIVEN ?? CLONE;

describe(`packhouse local --once on twelve blocks in a row (${source.title})`, () => {
  let workspace: Workspace;
  let blocks: RecordedBlock[];
  beforeAll(async () => {
    workspace = await makeWorkspace(inject('postgresUrl'));
    blocks = source.blocks('row');
  });
  afterAll(() => workspace.remove());

  test('publishes exactly what the node sent, block for block, and says so as JSON', async () => {
    const node = await createReplayNode({ blocks });
    const args = ['local', '--rpc', node.url, '--from', '17686110', '--to', '17686121', '--once', '--json'];
    const cli = startCli([...args, '--data-dir', workspace.directory], { env: workspace.env });
    try {
      expect(await cli.exit, cli.stderr()).toBe(0);
    } finally {
      await node.close();
    }
    const lines = cli.stdout().trim().split('\n');
    for (const line of lines) expect(() => JSON.parse(line) as unknown).not.toThrow();
    expect(cli.events.find((event) => event.event === 'ready')).toMatchObject({
      baseUrl: expect.stringMatching(/\/ethereum\/v1\/$/),
      apiKey: expect.stringMatching(/^ph_/),
    });
    expect(cli.events.at(-1)).toMatchObject({ event: 'done', blocks: 12 });
    const published = cli.events.filter((event) => event.event === 'published');

    for (const kind of KINDS) {
      const folder = path.join(workspace.directory, 'objects', 'ethereum', kind);
      const names = (await readdir(folder)).filter((name) => name.endsWith('.json.gz')).sort();
      expect(names.map((name) => name.replace('.json.gz', ''))).toEqual(
        published.filter((event) => event.kind === kind).map((event) => `${event.from}-${event.to}`),
      );
    }
    await checkPublished(workspace, blocks, 'ethereum');
  });

  test('a second run of the same range has nothing to do and says so', async () => {
    const node = await createReplayNode({ blocks });
    const args = ['local', '--rpc', node.url, '--from', '17686110', '--to', '17686121', '--once', '--json'];
    const cli = startCli([...args, '--data-dir', workspace.directory], { env: workspace.env });
    try {
      expect(await cli.exit, cli.stderr()).toBe(0);
      expect(cli.events.filter((event) => event.event === 'published')).toEqual([]);
      expect(cli.events.at(-1)).toMatchObject({ event: 'done', blocks: 12 });
    } finally {
      await node.close();
    }
  });
});
