import type { Program, Scope } from '@packhouse/local';
import { startGateway } from '@packhouse/rig';
import type { Misbehaviour } from '../programs/misbehave.js';
import type { Probe } from '../programs/watch-victim.js';
import { type Beside, measureBeside } from './beside.js';
import type { Finding } from './finding.js';
import { type Ground, openGround, scriptedNetworks, serviceEnvironment } from './ground.js';

/** What a case is run with. */
interface CaseOptions {
  scope: Scope;
  /** Address of a Postgres, as superuser. */
  postgresUrl: string;
  /** Length of each measurement. */
  seconds: number;
  /** Only what is counted matters: fewer and shorter measurements. */
  short: boolean;
  /** Tells progress. */
  say(line: string): void;
}

/** One attack, or a family of them. */
export type AttackCase = (options: CaseOptions) => Promise<Finding[]>;

/** A gateway before the scripted node. */
interface Target {
  ground: Ground;
  process: Program;
  /** Address of a network's JSON-RPC, with a key or without. */
  rpc(network: string, key?: string): string;
  /** Measures two victims, `/healthz` and another key's small calls, alone and beside clients that misbehave. */
  beside(clients: readonly Misbehaviour[], seconds: number): Promise<Beside>;
}

/** Opens a target for one case. */
export async function openTarget({ scope, postgresUrl }: CaseOptions): Promise<Target> {
  const ground = await openGround(scope, postgresUrl);
  const env = await serviceEnvironment(ground, await scriptedNetworks(scope));
  const { url, process } = await startGateway(env, scope);
  const rpc = (network: string, key = ''): string => `${url}/${network}/v1/${key}`;
  const probes = getProbes(url, rpc('main', ground.keys.victim));
  const beside: Target['beside'] = (clients, seconds) =>
    measureBeside({ probes, clients, seconds, attacked: process });
  return { ground, process, rpc, beside };
}

/** `/healthz` and small calls that no memory answers, each every 20 ms. */
export function getProbes(gateway: string, rpc: string): Probe[] {
  return [
    { name: '/healthz', url: `${gateway}/healthz`, everyMs: 20 },
    { name: 'calls', url: rpc, body: smallCall('0x{n}', 'latest'), everyMs: 20 },
  ];
}

/** A client that sends a body again and again on each of its connections, as fast as it is answered. */
export function sendAgain(
  url: string,
  body: Extract<Misbehaviour, { kind: 'flood' }>['body'] & object,
  connections = 1,
  headers: Readonly<Record<string, string>> = {},
): Misbehaviour {
  return { kind: 'flood', url, body, connections, headers, everyMs: 0 };
}

/** A call for a small answer. */
export function smallCall(slot: string, block: string, id: string | number = 1): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"eth_getStorageAt","params":["0x${'ab'.repeat(20)}","${slot}","${block}"]}`;
}

/** A call for logs of final blocks; a flood fills in a topic that no other call has. */
export function logsCall(id: string | number = 1): string {
  const topic = `0x${'c'.repeat(48)}${String(id).padStart(8, '0')}{padded}`;
  return `{"jsonrpc":"2.0","id":${id},"method":"eth_getLogs","params":[{"fromBlock":"0x1","toBlock":"0x5","topics":["${topic}"]}]}`;
}
