// `npm run kernel -w packages/kernels`: compiles each room of kernel/ and writes its bytes below src/bytes/.
// With `-- --check` it compares instead, and ends with 1 if they differ, or with 75 if the compiler cannot be had.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Pinned, as is its binaryen by it: other versions make other bytes. */
const COMPILER = 'assemblyscript@0.28.20';
const EXIT_TRY_LATER = 75;
/** Each has a file of its own name, which exports what is called from outside. */
const ROOMS = ['deflate', 'json', 'records', 'scan'];
/** What every room may use. */
const SHARED = 'kernel/shared';
const LAYOUT = 'src/layout.ts';

process.chdir(new URL('../../packages/kernels/', import.meta.url).pathname);
// In a folder outside of the workspace, where npx would go to the workspace's own folder.
const folder = mkdtempSync(path.join(tmpdir(), 'kernel-'));
cpSync('kernel', path.join(folder, 'kernel'), { recursive: true });
cpSync(LAYOUT, path.join(folder, LAYOUT));
const { npm_config_workspace, npm_config_local_prefix, ...env } = process.env;
const run = (...command) =>
  execFileSync('npx', ['--yes', '--package', COMPILER, '--', ...command], {
    cwd: folder,
    env,
    stdio: 'pipe',
  });

process.exitCode = build();
rmSync(folder, { recursive: true });

function build() {
  try {
    run('asc', '--version');
  } catch (error) {
    process.stderr.write(`${COMPILER} could not be had: ${String(error.stderr).trim().split('\n').at(-1)}\n`);
    return EXIT_TRY_LATER;
  }
  const outdated = ROOMS.filter((room) => !compile(room));
  if (outdated.length === 0) return 0;
  process.stderr.write(
    `src/bytes is not what kernel/ compiles to (${outdated.join(', ')}): npm run kernel\n`,
  );
  return 1;
}

/** Writes the bytes of a room, or says whether they are the same. */
function compile(room) {
  const wasm = path.join(folder, `${room}.wasm`);
  run(
    ...['asc', `kernel/${room}/${room}.ts`, '--outFile', wasm, '-O3', '--noAssert', '--runtime', 'stub'],
    ...['--enable', 'simd', '--enable', 'bulk-memory'],
  );
  const text = toModule(room, readFileSync(wasm));
  const written = `src/bytes/${room}.ts`;
  if (process.argv.includes('--check')) return readFileSync(written, 'utf8') === text;
  writeFileSync(written, text);
  return true;
}

function toModule(room, wasm) {
  const hash = createHash('sha256');
  for (const source of [`kernel/${room}`, SHARED].flatMap(filesIn)) hash.update(readFileSync(source));
  hash.update(readFileSync(LAYOUT));
  return `// Made by \`npm run kernel\`. SHA-256 of the sources of kernel/${room}, ${SHARED} and ${LAYOUT}:
// ${hash.digest('hex')}

/** WebAssembly in base64. */
export const ${room.toUpperCase()}_BASE64 =
  '${wasm.toString('base64')}';
`;
}

function filesIn(from) {
  return readdirSync(from)
    .sort()
    .map((name) => `${from}/${name}`);
}
