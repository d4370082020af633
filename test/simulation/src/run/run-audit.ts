import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../../../apps/cli/dist/main.js', import.meta.url));
const MAX_OUTPUT = 64 * 2 ** 20;

/** Runs `packhouse audit --json` in this environment. */
export function runAudit(
  env: Record<string, string>,
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const args = [CLI, 'audit', '--json'];
    execFile(process.execPath, args, { env, maxBuffer: MAX_OUTPUT }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
  });
}
