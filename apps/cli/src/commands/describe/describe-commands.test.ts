import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../../testing/run.js';

const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;

/** A file with what a command prints. */
async function printed(...args: string[]): Promise<string> {
  const { code, out, err } = await run(args);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'completion-')), 'printed');
  writeFileSync(file, out);
  return file;
}
function output(program: string, ...args: string[]): string[] {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout.split('\n').filter((line) => line !== '');
}

const CASES: [line: string, offered: string[]][] = [
  ['backf', ['backfill']],
  ['backfill ca', ['cancel']],
  ['backfill add --max', ['--max-requests']],
  ['operators add ada --role ', ['admin', 'operator', 'owner', 'viewer']],
  ['schedule add x -- aud', []],
];

describe('packhouse completion', () => {
  it.skipIf(!has('bash'))('completes in bash (needs bash)', async () => {
    const file = await printed('completion', 'bash');
    for (const [line, offered] of CASES) {
      const words = `packhouse ${line}`.split(' ');
      const code = `source ${file}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _packhouse; printf '%s\\n' "\${COMPREPLY[@]}"`;
      expect(output('bash', '--norc', '-c', code, '-', ...words).sort(), line).toEqual(offered);
    }
  });

  it.skipIf(!has('zsh'))('completes in zsh (needs zsh)', async () => {
    const file = await printed('completion', 'zsh');
    const code = `zmodload zsh/zpty; zpty z zsh -f -i
      zpty -w z "PS1=; autoload -Uz compinit && compinit -u -D; source ${file}; print loa''ded"; zpty -r z text '*loaded*'
      zpty -w -n z $'packhouse operat\\tad\\tada --ro\\tadm\\t'; zpty -r z text '*--role*admin*'; print -r -- done; zpty -d z`;
    expect(output('zsh', '-f', '-c', code)).toEqual(['done']);
  });

  it.skipIf(!has('fish'))('completes in fish (needs fish)', async () => {
    const file = await printed('completion', 'fish');
    for (const [line, offered] of CASES.slice(0, 4)) {
      const lines = output('fish', '--no-config', '-c', `source ${file}; complete -C 'packhouse ${line}'`);
      expect(lines.map((each) => each.split('\t')[0]).sort(), line).toEqual(offered);
    }
  });

  it('refuses other shells', async () => {
    const { code, err } = await run(['completion', 'tcsh']);
    expect(code).toBe(64);
    expect(err).toContain('The shells are bash, zsh, fish.');
  });
});

describe('packhouse man', () => {
  it('has every command', async () => {
    const { out } = await run(['man']);
    for (const name of ['backfill add', 'keys create', 'verify <path...>', 'completion <shell>'])
      expect(out).toContain(`.SS packhouse ${name}`);
  });

  it.skipIf(!has('groff'))('is a page without warnings (needs groff)', async () => {
    const lines = output('groff', '-man', '-ww', '-Tutf8', '-z', await printed('man'));
    expect(lines).toEqual([]);
  });
});
