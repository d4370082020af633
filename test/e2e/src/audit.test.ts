import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { KINDS } from '@packhouse/chain';
import type { Program, ProgramEvent } from '@packhouse/local';
import { CLONE, GIVEN } from '@packhouse/recordings';
import { createReplayNode, type RecordedBlock, type ReplayNode } from '@packhouse/replay-node';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startCli } from './cli-process.js';
import { checkPublished } from './published.js';
import { startLocal } from './start-local.js';
import { makeWorkspace, type Workspace } from './workspace.js';

/** One source, the real one if it is there: other rooms test on both. */
const source = GIVEN ?? CLONE;
/** Each audit is a separate process. */
const TIME_MS = 300_000;

/** What was told, but for how far it was meanwhile: that depends on the machine. */
const told = (cli: Program): ProgramEvent[] => cli.events.filter(({ event }) => event !== 'progress');

describe(`packhouse audit of twelve blocks in a row (${source.title})`, () => {
  let workspace: Workspace;
  let blocks: RecordedBlock[];
  let node: ReplayNode;
  let receipts: string;
  beforeAll(async () => {
    workspace = await makeWorkspace(inject('postgresUrl'));
    blocks = source.blocks('row');
    node = await createReplayNode({ blocks });
    const cli = startLocal(workspace, { rpc: [node.url], from: 17_686_110, to: 17_686_121 });
    expect(await cli.exit, cli.stderr()).toBe(0);
    const [first] = cli.events.filter(({ event, kind }) => event === 'published' && kind === 'receipts');
    receipts = `ethereum/receipts/${first?.from}-${first?.to}.json.gz`;
  });
  afterAll(async () => {
    await node.close();
    await workspace.remove();
  });

  const audit = async (...args: string[]): Promise<Program> => {
    const cli = startCli(['audit', '--data-dir', workspace.directory, ...args], { env: workspace.env });
    await cli.exit;
    return cli;
  };

  test(
    'what a run published is clean in all kinds',
    async () => {
      // A recording may leave its withdrawals out.
      const unchecked = blocks.filter(({ block }) => block.withdrawals === undefined).length;
      const cli = await audit('--json');
      expect(await cli.exit, cli.stderr()).toBe(0);
      expect(told(cli)).toMatchObject([
        {
          event: 'done',
          blocks: 12 * KINDS.length,
          findings: 0,
          harmless: 0,
          unchecked:
            unchecked === 0
              ? []
              : [
                  {
                    kind: 'blocks',
                    blocks: unchecked,
                    reason: expect.stringMatching(/^the withdrawals are missing/),
                  },
                ],
        },
      ]);
      const [last, ...before] = (await audit()).stdout().trimEnd().split('\n').reverse();
      expect(last).toMatch(/^Audited \d+ bundles, 60 blocks, .* \(.*\/s\): no damage\.$/);
      const withoutThem = `Not checked: ${unchecked} blocks of ethereum blocks: the withdrawals are missing`;
      expect(before).toEqual(unchecked === 0 ? [] : [expect.stringMatching(`^${withoutThem} .*\\.$`)]);
    },
    TIME_MS,
  );

  test(
    'a flipped byte is named, raises the alarm, is repaired, and everything is as it was',
    async () => {
      const file = path.join(workspace.directory, 'objects', receipts);
      const bytes = await readFile(file);
      bytes[5_000] = (bytes[5_000] as number) ^ 0x10;
      await writeFile(file, bytes);

      const found = await audit('--network', 'ethereum', '--kinds', 'receipts', '--json');
      expect(await found.exit, found.stderr()).toBe(2);
      expect(told(found)).toMatchObject([
        { event: 'finding', kind: 'receipts', cause: 'sha256', key: receipts },
        { event: 'done', findings: 1, standing: 1 },
      ]);
      const said = await audit();
      expect(said.stdout().split('\n')[0]).toMatch(/^ethereum receipts \d+-\d+: the object .* has SHA-256 /);
      const alarms = startCli(['alarms', 'list', '--json'], { env: workspace.env });
      await alarms.exit;
      expect(alarms.stdout()).toContain('"name":"BUNDLE_DAMAGED"');

      const repaired = await audit('--repair');
      expect(await repaired.exit, repaired.stderr()).toBe(0);
      expect(repaired.stdout()).toMatch(
        /receipts \d+-\d+ is repaired: version 2 is published as .*\.v2\.json\.gz, .* is kept\./,
      );
      const again = await audit('--json');
      expect(told(again)).toMatchObject([{ event: 'done', findings: 0, harmless: 0 }]);
      await checkPublished(workspace, blocks, 'ethereum');
      const after = startCli(['alarms', 'list'], { env: workspace.env });
      await after.exit;
      expect(after.stdout()).toBe('No open alarms.\n');
    },
    TIME_MS,
  );

  test(
    'without a node nothing is repaired, and that is said',
    async () => {
      const file = path.join(workspace.directory, 'objects', receipts.replace('.json.gz', '.v2.json.gz'));
      const bytes = await readFile(file);
      await writeFile(file, bytes.subarray(0, 1_000));
      await node.close();
      const cli = await audit('--repair', '--kinds', 'receipts');
      expect(await cli.exit).toBe(2);
      expect(cli.stdout()).toMatch(
        /has 1000 bytes, expected \d+\.\n.* is not repaired: .*Nothing was changed\.\n/,
      );
      await writeFile(file, bytes);
      expect(await (await audit()).exit).toBe(0);
    },
    TIME_MS,
  );
});
