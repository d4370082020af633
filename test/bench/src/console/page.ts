import type { Scope } from '@packhouse/local';
import { addOperator, makeToken, type OperationParts } from '@packhouse/operations';
import { startNode } from '@packhouse/rig';
import type { Place } from '../place.js';

/** An admin at a console. */
export interface Page {
  /** The text of an answer. Throws if it is an error. */
  read(path: string): Promise<string>;
  /** Has the console forget the answers that it shares. */
  forget(): Promise<void>;
}

/** Starts the built console, and signs in as an admin. */
export async function openPage(
  scope: Scope,
  { context, database, url }: Pick<Place, 'context' | 'database' | 'url'>,
): Promise<Page> {
  const parts: OperationParts = { context, database, actor: 'bench' };
  await addOperator.run(parts, { name: 'ada', role: 'admin' });
  const { token } = await makeToken.run(parts, { name: 'ada', role: 'admin', days: 1, label: 'bench' });
  const env = { DATABASE_URL: url, CONSOLE_PORT: '0', LOG_LEVEL: 'warn' };
  const { port } = await startNode(scope, 'apps/console/dist/main.js', [], env).message('listening');
  const base = `http://127.0.0.1:${port}/api/`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return {
    async read(path) {
      const answer = await fetch(base + path, { headers });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${path} was answered with ${answer.status}: ${text}`);
      return text;
    },
    // Any change does, also one that fails.
    async forget() {
      const body = JSON.stringify({ network: 'net-000', name: 'NONE' });
      await (await fetch(`${base}alarms/clear`, { method: 'POST', headers, body })).text();
    },
  };
}
