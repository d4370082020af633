import { writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonLines } from '../testing/run.js';
import { useCommands } from '../testing/use-commands.js';

const commands = useCommands({ migrated: false });
let node: ReplayNode;
beforeAll(async () => {
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
afterAll(() => node.close());

async function refusal(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number; line: string; events: Record<string, unknown>[] }> {
  Object.assign(commands.env, env);
  try {
    const data = args.includes('--data-dir') ? [] : ['--data-dir', commands.directory];
    const outcome = await commands.packhouse('local', ...args, ...data);
    expect(outcome.err).toMatch(/^packhouse: [^\n]+\n$/);
    const events = args.includes('--json') ? jsonLines(outcome) : [];
    return { code: outcome.code, line: outcome.err.trimEnd(), events };
  } finally {
    for (const name of Object.keys(env)) delete commands.env[name];
  }
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
      async (request, response) => {
        const { id } = (await json(request)) as { id: number };
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x5' }));
      },
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
    await writeFile(path.join(commands.directory, 'format'), '99\n');
    const { code, line } = await refusal(['--rpc', node.url, '--from', '100']);
    await writeFile(path.join(commands.directory, 'format'), '2\n');
    expect(code).toBe(78);
    expect(line).toMatch(/has format 99.*\[DATA_DIR_NEWER\]$/);
  });

  test('a data folder that is a file', async () => {
    const file = path.join(commands.directory, 'file');
    await writeFile(file, '');
    const { code, line } = await refusal(['--rpc', node.url, '--from', '100', '--data-dir', file]);
    expect(code).toBe(73);
    expect(line).toMatch(/cannot be used.*\[DATA_DIR_UNUSABLE\]$/);
  });

  test('a malformed networks file, by line and field', async () => {
    const file = path.join(commands.directory, 'networks.yaml');
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
    const file = path.join(commands.directory, 'few.yaml');
    await writeFile(
      file,
      `networks:\n  - {id: main, family: evm, chainId: 1, upstreams: [{url: '${node.url}'}], bundles: {kinds: [blocks, logs]}}\n`,
    );
    const { code, line } = await refusal(args as string[], { NETWORKS_FILE: file });
    expect(line).toMatch(sentence as RegExp);
    expect(code).toBe(64);
  });

  test('with --json the error is an object on stdout too', async () => {
    const { code, events } = await refusal(['--rpc', 'http://127.0.0.1:9', '--json']);
    expect(code).toBe(69);
    expect(events).toEqual([{ event: 'error', code: 'NODE_UNREACHABLE', message: expect.any(String) }]);
  });
});
