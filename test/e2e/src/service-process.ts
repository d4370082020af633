import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A gateway, ingester or packer that runs by itself, as an orchestrator would start it. */
export interface ServiceProcess {
  child: ChildProcess;
  /** Its log. */
  log(): string;
  /** The port of its gateway or of its metrics, as soon as it is told. */
  port(what: 'listening' | 'metrics'): Promise<number>;
  ready: Promise<void>;
  /** The exit code, or the signal's name. */
  exit: Promise<number | NodeJS.Signals>;
}

/** Starts one from the build. It is told nothing by anybody but signals; what it says of itself is heard. */
export function startService(
  name: 'gateway' | 'ingester' | 'packer',
  env: Record<string, string>,
): ServiceProcess {
  const main = fileURLToPath(new URL(`../../../apps/${name}/dist/main.js`, import.meta.url));
  const child = fork(main, {
    // Not the test runner's own: the build resolves to the build.
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PORT: '0',
      METRICS_HOST: '127.0.0.1',
      METRICS_PORT: 'any',
      ...env,
    },
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  }
  const exit = new Promise<number | NodeJS.Signals>((resolve) => {
    child.on('exit', (code, signal) => resolve(code ?? (signal as NodeJS.Signals)));
  });
  const heard = (type: string): Promise<{ port: number }> =>
    new Promise((resolve, reject) => {
      child.on('message', (message: { type: string; port: number }) => {
        if (message.type === type) resolve(message);
      });
      void exit.then((code) => reject(new Error(`the ${name} ended with ${code} before "${type}": ${log}`)));
    });
  const messages = { listening: heard('listening'), metrics: heard('metrics'), ready: heard('ready') };
  for (const message of Object.values(messages)) message.catch(() => undefined);
  return {
    child,
    log: () => log,
    port: async (what) => (await messages[what]).port,
    ready: messages.ready.then(() => undefined),
    exit,
  };
}
