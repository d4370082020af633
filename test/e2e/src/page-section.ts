import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { root } from './pasted.js';

/** A block of a page that is pasted into a shell. */
export interface Pasted {
  text: string;
  /** The lines that stand below it, with columns one space apart. */
  answers: string[];
}

/** The `sh` blocks of a section of a page, with the `text` block below each. */
export async function pastedOfSection(page: string, title: string): Promise<Pasted[]> {
  const text = await readFile(path.join(root, page), 'utf8');
  const section = text.split(/^## /m).find((each) => each.startsWith(title)) ?? '';
  return [...section.matchAll(/^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms)].map(
    ([, block = '', answers = '']) => ({ text: block, answers: narrow(answers) }),
  );
}

/** The lines of a text, with columns one space apart: how wide they are depends on names and numbers. */
export function narrow(text: string): string[] {
  return text.replaceAll(/ +/g, ' ').split('\n').slice(0, -1);
}
