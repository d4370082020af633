import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { callNode } from './process/call-node.js';
import { endWithOwner } from './process/end-with-owner.js';
import { freePort } from './process/free-port.js';

const READY_POLL_MS = 50;
const POLL_MS = 2;

/** A running geth with a chain of its own, which makes a block as soon as it has a transaction or a withdrawal. */
export interface Geth {
  /** Its JSON-RPC address. */
  url: string;
  /** Calls a method; throws its error as text. */
  rpc<T>(method: string, params: readonly unknown[]): Promise<T>;
  /** Sends a transaction of its funded account, with ample gas, and waits for the receipt. */
  send(fields: Readonly<Record<string, unknown>>): Promise<GethReceipt>;
  /** Ends it and waits until it has written what it keeps. */
  stop(): Promise<void>;
}

/** The part of a receipt that tests read. */
interface GethReceipt {
  blockNumber: string;
  contractAddress: string | null;
  status: string;
  transactionHash: string;
}

/** Whether there is a geth on PATH. */
export function gethInstalled(): boolean {
  try {
    execFileSync('geth', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts the geth on PATH as `geth --dev`, with more arguments; its chain is in memory unless they name a `--datadir`.
 * The first block of all of them is the same. Every 32nd block is final, and the newest is safe.
 */
export async function startGeth(...args: readonly string[]): Promise<Geth> {
  const [port, authPort] = [await freePort(), await freePort()];
  const ports = ['--http.port', String(port), '--authrpc.port', String(authPort)];
  const fixed = ['--dev', '--http', '--http.api', 'admin,debug,dev,eth,web3', '--ipcdisable'];
  const child = spawn('geth', [...fixed, ...ports, '--verbosity', '1', ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await once(child, 'spawn');
  child.once('exit', endWithOwner({ pid: child.pid as number }));
  const url = `http://127.0.0.1:${port}`;
  const rpc: Geth['rpc'] = (method, params) => callNode(url, method, params);
  while ((await rpc('eth_chainId', []).catch(() => null)) === null) {
    if (child.exitCode !== null) throw new Error(`geth ended with ${child.exitCode}: ${said}`);
    await delay(READY_POLL_MS);
  }
  return {
    url,
    rpc,
    async send(fields) {
      const [from] = await rpc<string[]>('eth_accounts', []);
      const hash = await rpc('eth_sendTransaction', [{ from, gas: '0x100000', ...fields }]);
      for (;;) {
        // It refuses for a moment after its start, while it indexes transactions.
        const receipt = await rpc<GethReceipt | null>('eth_getTransactionReceipt', [hash]).catch(() => null);
        if (receipt !== null) return receipt;
        await delay(POLL_MS);
      }
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}
