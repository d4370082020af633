import type { Database } from '@packhouse/database';
import { addOperator, makeLink } from '@packhouse/operations';
import { type Context, describeError, isPackhouseError } from '@packhouse/runtime';
import type { DataDirectory } from '../installation/data-directory.js';
import { operatorName } from '../installation/operator.js';
import type { CliIo } from '../terminal/io.js';
import { nextFreePort } from './free-port.js';
import { noteChild } from './leftovers.js';
import type { Reporter } from './report.js';
import { type Supervised, supervise } from './supervise.js';

/** The port of the console, or one after it. */
const PORT = 8_090;
/** The operator that links of `packhouse local` sign in. */
const OPERATOR = 'local';

interface ConsoleParts {
  io: CliIo;
  context: Context;
  database: Database;
  directory: DataDirectory;
  /** Added to this process's own environment. */
  env: Readonly<Record<string, string>>;
  reporter: Reporter;
  onClose: (close: () => Promise<unknown>) => void;
}

/** Starts the console and prints a link into it. A console that fails is reported; everything else goes on without it. */
export function startConsole(parts: ConsoleParts): void {
  const { io, directory, env, reporter, onClose } = parts;
  let port = Number(io.env.CONSOLE_PORT || PORT);
  const child: Supervised = supervise({
    name: 'console',
    env: () => ({
      ...{ ...io.env, ...env, CONSOLE_PORT: String(port), METRICS_PORT: '0' },
      OBJECT_STORE: io.env.OBJECT_STORE ?? directory.in('objects'),
    }),
    logFile: directory.in('logs', 'console.log'),
    onMessage(name, message) {
      if (message.type === 'problem') reporter.problem(name, message.message, message.code);
      if (message.type === 'listening') port = message.port;
    },
    onGone: (error) => reporter.problem('console', describeError(error)),
    onStart: (pid) => noteChild(directory, 'console', pid),
    async putRight(code) {
      const next = code === 'PORT_IN_USE' ? await nextFreePort(port + 1) : null;
      if (next === null) return false;
      port = next;
      return true;
    },
  });
  io.hurry?.addEventListener('abort', () => child.kill(), { once: true });
  onClose(() => child.stop());
  child.ready
    .then(() => printLink(parts, io.env.CONSOLE_URL || `http://127.0.0.1:${port}`))
    .catch((error: unknown) => {
      if (!io.signal.aborted) reporter.problem('console', describeError(error));
    });
}

/** Prints a link that signs an admin in once, within ten minutes. */
async function printLink(
  { io, context, database, reporter }: Pick<ConsoleParts, 'io' | 'context' | 'database' | 'reporter'>,
  address: string,
): Promise<void> {
  const operations = { context, database, who: operatorName(io) };
  await addOperator.run(operations, { name: OPERATOR, role: 'admin' }).catch((error: unknown) => {
    if (!isPackhouseError(error, 'OPERATOR_EXISTS')) throw error;
  });
  const { path, expiresInMs } = await makeLink.run(operations, { name: OPERATOR });
  const url = address.replace(/\/+$/, '');
  reporter.event({ event: 'console', url, link: `${url}${path}`, expiresInMs }, `Console: ${url}${path}`);
}
