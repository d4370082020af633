import { runSql } from '@packhouse/local';
import type { AttackCase } from '../ground/case.js';
import { counted, type Finding } from '../ground/finding.js';
import { openGround, startCli } from '../ground/ground.js';

const KEYS = 10_000;
/** Between two pieces of at most 64 KiB. */
const SLOW_MS = 20;

/** Ten thousand keys listed through a pipe that is read slowly. */
export const attackPipes: AttackCase = async ({ scope, postgresUrl }) => {
  const ground = await openGround(scope, postgresUrl);
  await runSql(
    ground.databaseUrl,
    `INSERT INTO packhouse.api_key (application_id, plan, prefix, sha256)
     SELECT (SELECT min(id) FROM packhouse.application), 'free', 'ph_' || lpad(n::text, 8, '0'),
            sha256(int8send(n))
     FROM generate_series(1, ${KEYS}) AS n`,
  );
  const findings: Finding[] = [];
  for (const json of [false, true]) {
    const args = ['keys', 'list', ...(json ? ['--json'] : [])];
    const run = startCli(scope, ground, args, {}, { readStdout: false });
    let text = '';
    run.child.stdout?.setEncoding('latin1').on('data', (piece: string) => {
      text += piece;
      run.child.stdout?.pause();
      setTimeout(() => run.child.stdout?.resume(), SLOW_MS);
    });
    const code = await run.exit;
    const listed = new Set(text.match(/ph_0\d{7}/g) ?? []).size;
    const sound = !json || isJson(text);
    findings.push(
      counted('pipes', `${args.join(' ')} | a slow reader: keys`, {
        got: `${listed}, exit code ${code}${sound ? '' : ', cut off'}`,
        bound: `${KEYS}, exit code 0`,
        held: listed === KEYS && code === 0 && sound,
      }),
    );
  }
  return findings;
};

/** Whether a text is a JSON document, or a line of JSON after another. */
function isJson(text: string): boolean {
  const fits = (part: string): boolean => {
    try {
      JSON.parse(part);
      return true;
    } catch {
      return false;
    }
  };
  return fits(text) || text.trimEnd().split('\n').every(fits);
}
