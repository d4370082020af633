import type { Database } from '@packhouse/database';
import { addOperator, makeLink } from '@packhouse/operations';
import { describeError, isPackhouseError } from '@packhouse/runtime';
import { operatorName } from '../installation/operator.js';
import { nextFreePort } from './free-port.js';
import type { LocalRun } from './local-run.js';
import { startPart } from './start-part.js';

/** The port of the console, or one after it. */
const PORT = 8_090;
/** The operator that links of `packhouse local` sign in. */
const OPERATOR = 'local';

/**
 * Starts the console; resolves to a one-time link into it, or to null if it fails, which is reported: everything else
 * goes on without it. `env` is added to this process's own environment.
 */
export function startConsole(
  run: LocalRun,
  database: Database,
  env: Readonly<Record<string, string>>,
): Promise<string | null> {
  const { io, reporter, onClose } = run;
  let port = Number(io.env.CONSOLE_PORT || PORT);
  const child = startPart(run, {
    name: 'console',
    env: () => ({ ...env, CONSOLE_PORT: String(port), METRICS_PORT: '0' }),
    onMessage(message) {
      if (message.type === 'listening') port = message.port;
    },
    onGone: (error) => reporter.problem('console', describeError(error)),
    async putRight(code) {
      const next = code === 'PORT_IN_USE' ? await nextFreePort(port + 1) : null;
      if (next === null) return false;
      port = next;
      return true;
    },
  });
  onClose(() => child.stop());
  return child.ready
    .then(() => makeConsoleLink(run, database, io.env.CONSOLE_URL || `http://127.0.0.1:${port}`))
    .catch((error: unknown) => {
      if (!io.signal.aborted) reporter.problem('console', describeError(error));
      return null;
    });
}

/** Makes and reports a link that signs an admin in once, within ten minutes. */
async function makeConsoleLink(
  { io, context, reporter }: LocalRun,
  database: Database,
  address: string,
): Promise<string> {
  const operations = { context, database, actor: operatorName(io) };
  await addOperator.run(operations, { name: OPERATOR, role: 'admin' }).catch((error: unknown) => {
    if (!isPackhouseError(error, 'OPERATOR_EXISTS')) throw error;
  });
  const { path, expiresInMs } = await makeLink.run(operations, { name: OPERATOR });
  const url = address.replace(/\/+$/, '');
  const link = `${url}${path}`;
  reporter.event({ event: 'console', url, link, expiresInMs });
  return link;
}
