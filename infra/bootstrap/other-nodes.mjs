// `node infra/bootstrap/other-nodes.mjs [--short]`: runs the tests on the versions of Node that are supported.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { prepare, root, runChild } from './prepare.mjs';

/** What runs the installed packages: every role, a download, and the launcher. */
const INSTALLED = ['test/e2e/src/tarballs.test.ts', 'apps/cli/src/launcher.test.ts'];
const short = process.argv.includes('--short');
/** The oldest version runs the packages only: some tools of the tests want a newer one. */
const RUNS = [
  { version: '20.15.1', files: INSTALLED },
  { version: '22', files: short ? INSTALLED : [] },
  { version: '24', files: short ? INSTALLED : [] },
];

await prepare();
let failed = 0;
for (const { version, files } of RUNS) {
  process.stderr.write(`── Node ${version}\n`);
  const folder = mkdtempSync(path.join(tmpdir(), 'packhouse-node-'));
  writeFileSync(path.join(folder, 'package.json'), '{}');
  const name = `node-${process.platform}-${process.arch}`;
  const options = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline'];
  execFileSync('npm', ['install', ...options, `${name}@${version}`], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
  });
  const bin = path.join(folder, 'node_modules', name, 'bin');
  const code = await runChild(
    path.join(bin, 'node'),
    [`${root}node_modules/vitest/vitest.mjs`, 'run', '--reporter=dot', ...files],
    ['ignore', 2, 2],
    { ...process.env, PATH: `${bin}:${process.env.PATH}` },
  );
  if (code !== 0) failed += 1;
  rmSync(folder, { recursive: true });
}
process.stdout.write(`${RUNS.length - failed} passed, ${failed} failed\n`);
process.exit(failed === 0 ? 0 : 1);
