import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { kill } from 'node:process';
import { type Context, processStart } from '@packhouse/runtime';
import type { DataDirectory } from '../installation/data-directory.js';

const FOLDER = 'run';
const FILE = /^(\w+)\.pid$/;
const POLL_MS = 50;
/** Draining takes 30 s at most. */
const PATIENCE_MS = 32_000;

/** Notes the process of a part, so that the start after a kill can wait for it. */
export function noteChild(directory: DataDirectory, name: string, pid: number): void {
  try {
    writeFileSync(directory.in(FOLDER, `${name}.pid`), `${pid} ${processStart(pid) ?? ''}\n`);
  } catch {
    // The disk is full: the next start does not wait, and may get another port.
  }
}

/**
 * Waits for the processes of a killed run, which notice that and drain. They hold the port of the gateway, which this
 * run needs because links contain it. A process that does not end in time is killed.
 */
export async function endLeftovers(
  context: Context,
  directory: DataDirectory,
  onWait: (line: string) => void,
): Promise<void> {
  const left = readdirSync(directory.in(FOLDER)).flatMap((name) => leftover(directory, name));
  const running = (): typeof left => left.filter(({ pid, start }) => processStart(pid) === start);
  if (running().length > 0) {
    const names = running().map(({ name }) => name);
    onWait(`Waiting for ${names.join(' and ')} of an earlier run to end …`);
  }
  const until = context.clock.elapsed() + PATIENCE_MS;
  while (running().length > 0 && context.clock.elapsed() < until)
    await context.clock.sleep(POLL_MS, context.signal);
  for (const { pid } of running()) {
    try {
      kill(pid, 'SIGKILL');
    } catch {
      // It has just ended.
    }
  }
  for (const { file } of left) rmSync(file, { force: true });
}

function leftover(
  directory: DataDirectory,
  fileName: string,
): { name: string; file: string; pid: number; start: string }[] {
  const name = FILE.exec(fileName)?.[1];
  if (name === undefined) return [];
  const file = directory.in(FOLDER, fileName);
  const [pid, start = ''] = readFileSync(file, 'utf8').trim().split(' ');
  return [{ name, file, pid: Number(pid), start }];
}
