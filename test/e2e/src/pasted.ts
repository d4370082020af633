import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The shells that pages are pasted into: zsh, the one of macOS, at night only. */
export const shells: readonly string[] = process.env.TESTS === 'all' ? ['bash', 'zsh'] : ['bash'];

/** A block of a page that is pasted into a shell, and the answers that stand below it, one a line. */
interface Block {
  text: string;
  answers: string[];
}

/** A shell that runs what was pasted. */
interface Shell {
  /** What it printed until it ended; what it started in the background may still run. */
  output: Promise<string>;
  /** Ends all that it started. */
  end(): void;
}

/** Whether a program is installed. */
export const isOnPath = (name: string): boolean =>
  (process.env.PATH ?? '').split(path.delimiter).some((folder) => existsSync(path.join(folder, name)));

/** All `sh` blocks of a page, in order. */
export async function getBlocks(page: string): Promise<Block[]> {
  const text = await readFile(path.join(root, page), 'utf8');
  return [...text.matchAll(/^```sh\n(.*?)^```\n(?:\n```json\n(.*?)^```\n)?/gms)].map(
    ([, block = '', answers = '']) => ({
      text: block,
      answers: answers.split('\n').filter((line) => line !== ''),
    }),
  );
}

/** Pastes a text into a shell, which reads it as from a terminal: what a program of it reads is missing behind it. */
export function paste(name: string, text: string, env: Record<string, string>, cwd = root): Shell {
  // A process group of its own: what it starts in the background can be ended with it.
  const child = spawn(name, ['-s'], {
    cwd,
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
  });
  const mark = 'all-is-pasted\n';
  // Not until its output ends: what it started in the background holds that open.
  const output = new Promise<string>((resolve, reject) => {
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      stdout += more;
      if (stdout.includes(mark)) resolve(stdout.replace(mark, ''));
    });
    child.once('close', () => reject(new Error(`${name} ended before all was pasted: ${stdout}`)));
  });
  child.stdin.end(`${text}echo ${mark}`);
  return {
    output,
    end() {
      try {
        process.kill(-(child.pid as number), 'SIGKILL');
      } catch {
        // Nothing of it runs any more.
      }
    },
  };
}

/** An answer as a page has it, `…` for what is left out. */
export function pattern(answer: string): RegExp {
  const pieces = answer.split('…').map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${pieces.join('.*')}$`, 's');
}
