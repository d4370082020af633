import type { Scope } from '@packhouse/local';
import type { Probe } from '../programs/watch-victim.js';
import type { Finding } from './finding.js';
import { type AttackedGateway, type Ground, openGround, scriptedNetworks, startGateway } from './ground.js';

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

/** A gateway before the scripted node, and two victims. */
interface Target {
  ground: Ground;
  gateway: AttackedGateway;
  /** `/healthz`, and another key's small calls. */
  probes: Probe[];
  /** Address of a network's JSON-RPC, with a key or without. */
  rpc(network: string, key?: string): string;
}

/** Opens a target for one case. */
export async function openTarget(
  { scope, postgresUrl }: CaseOptions,
  env: Readonly<Record<string, string>> = {},
): Promise<Target> {
  const ground = await openGround(scope, postgresUrl);
  const networks = await scriptedNetworks(scope);
  const gateway = await startGateway(scope, ground, { networks, env });
  const rpc = (network: string, key = ''): string => `${gateway.url}/${network}/v1/${key}`;
  return { ground, gateway, rpc, probes: getProbes(gateway.url, rpc('main', ground.keys.victim)) };
}

/** `/healthz` and small calls that no memory answers, each every 20 ms. */
export function getProbes(gateway: string, rpc: string): Probe[] {
  return [
    { name: '/healthz', url: `${gateway}/healthz`, everyMs: 20 },
    { name: 'calls', url: rpc, body: smallCall('0x{n}', 'latest'), everyMs: 20 },
  ];
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
