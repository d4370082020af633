import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';

/** A real Anvil with its own chain. */
export interface Anvil {
  url: string;
  rpc<T>(method: string, params?: unknown[]): Promise<T>;
  stop(): Promise<void>;
}

const require = createRequire(import.meta.url);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Starts Anvil from its platform package; throws where there is none for this machine. */
export async function startAnvil(args: string[] = []): Promise<Anvil> {
  const binary = require.resolve(
    `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}/bin/anvil`,
  );
  const port = await freePort();
  const child: ChildProcess = spawn(binary, ['--port', String(port), '--no-mining', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`anvil ended with ${code}`)));
    child.stdout?.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('Listening on')) resolve();
    });
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    rpc: async (method, params = []) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      const answer = (await response.json()) as { result?: unknown; error?: unknown };
      if (answer.error !== undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
      return answer.result as never;
    },
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
