import { writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startCli } from './cli-process.js';
import { makeWorkspace, type Workspace } from './workspace.js';

let workspace: Workspace;
let node: ReplayNode;
beforeAll(async () => {
  workspace = await makeWorkspace(inject('postgresUrl'));
  node = await createReplayNode({
    blocks: generateChain({
      length: 4,
      txsPerBlock: 2,
      logsPerTx: 1,
      tracesPerTx: 2,
      seed: 1,
      startNumber: 100,
    }),
  });
});
afterAll(async () => {
  await node.close();
  await workspace.remove();
});

async function refusal(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: unknown; line: string }> {
  const cli = startCli(['local', ...args, '--data-dir', workspace.directory], {
    env: { ...workspace.env, ...env },
  });
  const code = await cli.exit;
  const lines = cli.stderr().trim().split('\n');
  expect(lines.length, cli.stderr()).toBe(1);
  expect(cli.stderr()).not.toMatch(/\n\s+at /);
  return { code, line: lines[0] as string };
}

async function withServer<T>(answer: RequestListener, use: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

describe('packhouse local refuses in one sentence that names the cause and the way out', () => {
  test('a node that is not there', async () => {
    const { code, line } = await refusal(['--rpc', 'http://127.0.0.1:9']);
    expect(code).toBe(69);
    expect(line).toMatch(/127\.0\.0\.1:9\S* refused the connection.*\[NODE_UNREACHABLE\]$/);
  });

  test('an address that answers HTML', async () => {
    await withServer(
      (_, response) => response.setHeader('content-type', 'text/html').end('<!DOCTYPE html><h1>hi</h1>'),
      async (url) => {
        const { code, line } = await refusal(['--rpc', url]);
        expect(code).toBe(69);
        expect(line).toMatch(/<!DOCTYPE html>.*\[NODE_NOT_JSON_RPC\]$/);
      },
    );
  });

  test('a node that refuses the credentials, which are not repeated', async () => {
    await withServer(
      (_, response) => response.writeHead(401).end(),
      async (url) => {
        const { code, line } = await refusal(['--rpc', `${url}/v3/0123456789abcdef0123456789abcdef`]);
        expect(code).toBe(69);
        expect(line).toMatch(/\[NODE_UNAUTHORIZED\]$/);
        expect(line).not.toContain('0123456789abcdef');
      },
    );
  });

  test('nodes of two chains', async () => {
    await withServer(
      (_, response) => response.end('{"jsonrpc":"2.0","id":1,"result":"0x5"}'),
      async (url) => {
        const { code, line } = await refusal(['--rpc', node.url, '--rpc', url]);
        expect(code).toBe(78);
        expect(line).toMatch(/is on 1, .* is on 5.*\[NODE_WRONG_CHAIN\]$/);
      },
    );
  });

  test('a range that is reversed', async () => {
    const { code, line } = await refusal(['--from', '20', '--to', '10']);
    expect(line).toMatch(/20 to 10 is reversed.*\[RANGE_INVALID\]$/);
    expect(code).toBe(64);
  });

  test('a start beyond the head', async () => {
    const { code, line } = await refusal(['--rpc', node.url, '--from', '500']);
    expect(code).toBe(64);
    expect(line).toMatch(/--from 500 is beyond the head, block 103.*\[RANGE_BEYOND_HEAD\]$/);
  });

  test('a Postgres that is not there', async () => {
    const { code, line } = await refusal(['--rpc', node.url, '--from', '100'], {
      DATABASE_URL: 'postgres://someone:secret@127.0.0.1:9/none',
    });
    expect(code).toBe(69);
    expect(line).toMatch(/\[DATABASE_UNAVAILABLE\]$/);
    expect(line).not.toContain('secret');
  });

  test('a data folder of a newer version', async () => {
    await writeFile(path.join(workspace.directory, 'format'), '99\n');
    const { code, line } = await refusal(['--rpc', node.url, '--from', '100']);
    await writeFile(path.join(workspace.directory, 'format'), '2\n');
    expect(code).toBe(78);
    expect(line).toMatch(/has format 99.*\[DATA_DIR_NEWER\]$/);
  });

  test('a data folder that is a file', async () => {
    const file = path.join(workspace.directory, 'file');
    await writeFile(file, '');
    const cli = startCli(['local', '--rpc', node.url, '--from', '100', '--data-dir', file], {
      env: workspace.env,
    });
    expect(await cli.exit).toBe(73);
    expect(cli.stderr()).toMatch(/cannot be used.*\[DATA_DIR_UNUSABLE\]\n$/);
  });

  test('a malformed networks file, by line and field', async () => {
    const file = path.join(workspace.directory, 'networks.yaml');
    await writeFile(
      file,
      'networks:\n  - id: main\n    family: evm\n    chainId: one\n    upstreams:\n      - url: http://127.0.0.1:9\n',
    );
    const { code, line } = await refusal([], { NETWORKS_FILE: file });
    expect(code).toBe(78);
    expect(line).toMatch(/chainId.*\[NETWORKS_FILE_INVALID\]$/);
  });

  test.each([
    [['--network', 'mian'], /no network "mian"\. It has main\. \[NETWORK_UNKNOWN\]$/],
    [
      ['--kinds', 'blocks,traces'],
      /main has no traces in the networks file\. Give some of its own: --kinds blocks,logs\. \[KIND_UNKNOWN\]$/,
    ],
  ])('%j, which the networks file does not have', async (args, sentence) => {
    const file = path.join(workspace.directory, 'few.yaml');
    await writeFile(
      file,
      `networks:\n  - {id: main, family: evm, chainId: 1, upstreams: [{url: '${node.url}'}], bundles: {kinds: [blocks, logs]}}\n`,
    );
    const { code, line } = await refusal(args as string[], { NETWORKS_FILE: file });
    expect(line).toMatch(sentence as RegExp);
    expect(code).toBe(64);
  });

  test('with --json the error is an object on stdout too', async () => {
    const cli = startCli(
      ['local', '--rpc', 'http://127.0.0.1:9', '--json', '--data-dir', workspace.directory],
      { env: workspace.env },
    );
    expect(await cli.exit).toBe(69);
    expect(cli.events).toEqual([{ event: 'error', code: 'NODE_UNREACHABLE', message: expect.any(String) }]);
  });
});
