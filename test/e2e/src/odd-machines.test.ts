import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, test } from 'vitest';

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

/** Deflates a text, and reads an answer that is passed on, as built programs do. */
const WORK = `
import { inflateRawSync } from 'node:zlib';
const { createDeflater } = await import('ROOT/packages/bundle/dist/index.js');
const { AnswerReader } = await import('ROOT/packages/node-rpc/dist/forward/read-answer.js');
const said = [];
const deflater = createDeflater({ context: { logger: { warn: (_, text) => said.push(text) }, metrics: { counter: () => ({ inc() {} }) } } });
const text = Buffer.from(JSON.stringify(Array.from({ length: 9_000 }, (_, i) => '0x' + i.toString(16))));
const { body } = await deflater.deflate(text);
await deflater.close();
const reader = new AnswerReader({ maxBytes: 1_000_000, passedOn: true });
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
