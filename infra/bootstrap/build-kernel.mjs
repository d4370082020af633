// `npm run kernel -w packages/bundle` (or packages/chain): compiles the package's kernel/ and writes kernel-bytes.ts.
// With `-- --check` it compares instead, and ends with 1 if they differ, or with 75 if the compiler cannot be had.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Pinned, as is its binaryen by it: other versions make other bytes. */
const COMPILER = 'assemblyscript@0.28.20';
const EXIT_TRY_LATER = 75;

// npm runs scripts in the folder of their package.
const here = path.resolve('kernel');
const [main, folderOfBytes] = process.argv.slice(2);
const written = path.resolve(folderOfBytes, 'kernel-bytes.ts');
const sources = readdirSync(here)
  .filter((name) => name.endsWith('.ts'))
  .sort();
// In a folder outside of the workspace, where npx would go to the workspace's own folder.
const folder = mkdtempSync(path.join(tmpdir(), 'kernel-'));
for (const name of sources) copyFileSync(path.join(here, name), path.join(folder, name));
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
  const wasm = path.join(folder, 'kernel.wasm');
  run(
    ...['asc', main, '--outFile', wasm, '-O3', '--noAssert', '--runtime', 'stub'],
    ...['--enable', 'simd', '--enable', 'bulk-memory'],
  );
  const text = moduleOf(readFileSync(wasm));
  if (!process.argv.includes('--check')) {
    writeFileSync(written, text);
    return 0;
  }
  if (readFileSync(written, 'utf8') === text) return 0;
  process.stderr.write(
    `${written} is not what the kernel compiles to: npm run kernel -w ${path.relative(process.env.INIT_CWD ?? '.', '.')}\n`,
  );
  return 1;
}

function moduleOf(wasm) {
  const hash = createHash('sha256');
  for (const name of sources) hash.update(readFileSync(path.join(here, name)));
  const lines = wasm.toString('base64').match(/.{1,100}/g) ?? [];
  return `// Made by \`npm run kernel\`. SHA-256 of the sources in the order of their names:
// ${hash.digest('hex')}

/** The compiled kernel, in base64. */
export const KERNEL_BASE64 = [
${lines.map((line) => `  '${line}',`).join('\n')}
].join('');
`;
}
