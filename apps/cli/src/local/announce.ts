import path from 'node:path';
import type { Database } from '@packhouse/database';
import type { Family, Network } from '@packhouse/networks';
import type { NetworkStatus } from '@packhouse/report';

/** Addresses of one network at the gateway. */
interface Addresses {
  gateway: string;
  /** Ends in `/v1/`. */
  baseUrl: string;
  downloadUrl: string;
}

/** The addresses of a network behind a gateway on this machine. */
export function getAddresses(port: number, network: string): Addresses {
  const gateway = `http://127.0.0.1:${port}`;
  return { gateway, baseUrl: `${gateway}/${network}/v1/`, downloadUrl: `${gateway}/${network}/files` };
}

/** The first screen: where everything is, and how to call it. `consoleLink` is null if there is none. */
export function startLines(given: {
  gateway: string;
  /** The port that was asked for, if the gateway has another one. */
  portInUse: number | null;
  consoleLink: string | null;
  apiKey: string;
  /** The folder of the logs. */
  logs: string;
  cwd: string;
  isDemo: boolean;
  networks: readonly Network[];
}): string[] {
  const { gateway, portInUse, consoleLink, apiKey, logs, cwd, isDemo, networks } = given;
  const near = path.relative(cwd, logs);
  return [
    '',
    isDemo
      ? 'Packhouse is running with a demo chain. To connect your own node, add --rpc URL.'
      : 'Packhouse is running.',
    '',
    `  Gateway  ${gateway}${portInUse === null ? '' : ` (port ${portInUse} is in use)`}`,
    ...(consoleLink === null ? [] : [`  Console  ${consoleLink} (one-time link, valid for 10 minutes)`]),
    `  API key  ${apiKey}`,
    `  Logs     ${near.startsWith('..') ? logs : near}`,
    '',
    ...rpcLines(gateway, apiKey, networks),
  ];
}

/** The call in the line of each family. */
const INITIAL_CALLS: Record<Family, { method: string; params: unknown[] }> = {
  evm: { method: 'eth_blockNumber', params: [] },
  core: { method: 'core_getLogs', params: [{ fromEpoch: 'latest_state', toEpoch: 'latest_state' }] },
  cell: { method: 'get_consensus', params: [] },
  registry: {
    method: 'registry_accountList',
    params: [
      {
        type: 'blockchain',
        key_info: { coin_type: '60', chain_id: '1', key: `0x${'00'.repeat(19)}01` },
      },
    ],
  },
};
/** Networks that get a line. */
const SHOWN_NETWORKS = 8;

/** A line to paste for JSON-RPC on each of the first networks. */
function rpcLines(gateway: string, apiKey: string, networks: readonly Network[]): string[] {
  const lines = networks.slice(0, SHOWN_NETWORKS).map(({ id, family, baseUrl, rpc }) => {
    const call = { jsonrpc: '2.0', id: 1, ...INITIAL_CALLS[family] };
    const address = `${baseUrl ?? `${gateway}/${id}/v1/`}${rpc.open ? '' : apiKey}`;
    return `curl -s ${address} -H 'Content-Type: application/json' -d '${JSON.stringify(call)}'`;
  });
  return ['# JSON-RPC', ...lines];
}

/**
 * Lines to paste for a published file: its pointer and its download. Null before each kind has one, but for kinds that
 * quarantined blocks hold back: who pastes the lines of another kind finds its file too.
 */
export async function fileLines(
  database: Database,
  { kinds, network }: NetworkStatus,
  { addresses, apiKey }: { addresses: Addresses; apiKey: string },
): Promise<string[] | null> {
  const kind = kinds.find(({ bundles }) => bundles > 0);
  const awaited = kinds.some(({ bundles, quarantined }) => bundles === 0 && quarantined === 0);
  if (kind === undefined || awaited) return null;
  const [bundle] = await database.network(network).bundles.list(kind.kind, 0, 1);
  if (bundle === undefined) return null;
  const { firstBlock, lastBlock } = bundle;
  return [
    `# the file that contains block ${firstBlock}`,
    `curl -s ${addresses.baseUrl}${apiKey}/bundle-api/${kind.kind}/${firstBlock}`,
    '# its content',
    `curl -s -H 'Authorization: Bearer ${apiKey}' ${addresses.downloadUrl}/${kind.kind}/${firstBlock}-${lastBlock}.json.gz | gunzip | head -c 600`,
    '',
  ];
}
