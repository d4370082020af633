import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createReplayNode, generateChain } from '@packhouse/replay-node';
import { describe, expect, inject, it, test } from 'vitest';
import { longer } from './longer.js';
import { checkPublished } from './published.js';
import { startLocal } from './start-local.js';
import { makeWorkspace } from './workspace.js';

const ROOT = new URL('../../../', import.meta.url);

function node(...args: string[]): { code: number | null; out: string; lines: string[] } {
  const env = { PATH: process.env.PATH, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  // Node's own word about the flag.
  const lines = stderr
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('Warning: disabling flag'));
  return { code: status, out: stdout, lines };
}

describe('without WebAssembly (--jitless) one sentence says that it is needed', () => {
  it.each(['cli', 'ingester'])('of %s', (app) => {
    const main = fileURLToPath(new URL(`apps/${app}/dist/main.js`, ROOT));
    const { code, lines } = node('--jitless', main, ...(app === 'cli' ? ['--version'] : []));
    expect(lines).toEqual([
      expect.stringMatching(/^packhouse.*: .* without WebAssembly.* Start it .*\[NODE_JS_UNUSABLE\]$/),
    ]);
    expect(code).toBe(78);
  });
});

/** Deflates a text, and reads an answer, as built programs do. */
const WORK = `
import { inflateRawSync } from 'node:zlib';
const { createDeflater } = await import('ROOT/packages/bundle/dist/index.js');
const { AnswerReader } = await import('ROOT/packages/node-rpc/dist/forward/send/read-answer.js');
const said = [];
const deflater = createDeflater({ context: { logger: { warn: (_, text) => said.push(text) }, metrics: { counter: () => ({ inc() {} }) } } });
const text = Buffer.from(JSON.stringify(Array.from({ length: 9_000 }, (_, i) => '0x' + i.toString(16))));
const { body } = await deflater.deflate(text);
await deflater.close();
const reader = new AnswerReader({ maxBytes: 1_000_000 }, 1);
const fault = reader.push(Buffer.from('{"jsonrpc":"2.0","id":1,"result":' + text + '}')) ?? reader.end();
const isWhole = reader.whole().body.bytes !== undefined && reader.valueBytes === text.length;
console.log(JSON.stringify({ same: inflateRawSync(body, { finishFlush: 2 }).equals(text), fault, isWhole, said }));
`.replaceAll('ROOT/', ROOT.href);

test('without SIMD zlib deflates, which is said, and answers are read all the same', () => {
  const work = (...flags: string[]) => JSON.parse(node(...flags, '--input-type=module', '-e', WORK).out);
  const whole = { same: true, fault: null, isWhole: true };
  expect(work()).toEqual({ ...whole, said: [] });
  const without = work('--no-enable-sse4-1');
  // Other processors have SIMD always.
  if (process.arch === 'x64')
    expect(without.said).toEqual([expect.stringContaining('no WebAssembly with SIMD')]);
  expect(without).toMatchObject(whole);
});

/** NODE_OPTIONS takes no flag against SIMD, so our modules are refused as V8 does; undici has one without SIMD, too. */
const NO_SIMD = `--import data:text/javascript,${encodeURIComponent(`
const { CompileError, Module } = WebAssembly;
WebAssembly.Module = function (bytes) {
  if (!new Error().stack.includes("undici/lib")) throw new CompileError('Wasm SIMD unsupported');
  return new Module(bytes);
};`)}`;

longer('without SIMD all programs do the same', async () => {
  const blocks = generateChain({ length: 12, txsPerBlock: 30, startNumber: 100 });
  const workspace = await makeWorkspace(inject('postgresUrl'));
  const replayed = await createReplayNode({ blocks });
  try {
    const env = { NODE_OPTIONS: NO_SIMD };
    const cli = startLocal(workspace, { rpc: [replayed.url], from: 100, to: 111, env });
    expect(await cli.exit, cli.stderr()).toBe(0);
    await checkPublished(workspace, blocks, 'ethereum');
    const log = await readFile(path.join(workspace.directory, 'logs/ingester.log'), 'utf8');
    expect(log).toContain('no WebAssembly with SIMD');
  } finally {
    await replayed.close();
    await workspace.remove();
  }
});
