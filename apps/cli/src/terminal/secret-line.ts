import type { CliIo } from './io.js';

/** The first line of stdin, of `max` characters at most and one, so that no secret is on a command line. */
export async function readSecretLine(io: CliIo, name: string, max: number): Promise<string> {
  if (io.stdin?.isTTY) io.stderr.write(`${name} (visible): `);
  let text = '';
  for await (const piece of io.stdin ?? []) {
    text += String(piece);
    if (text.includes('\n') || text.length > max) break;
  }
  const [line = ''] = text.split(/\r?\n/);
  return line;
}
