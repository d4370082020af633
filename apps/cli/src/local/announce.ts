import type { Database } from '@packhouse/database';
import type { Family, Network } from '@packhouse/networks';
import type { NetworkStatus } from '@packhouse/pipeline';
import type { Reporter } from './report.js';

/** Addresses of one network at the gateway. */
interface Addresses {
  gateway: string;
  /** Ends in `/v1/`. */
  baseUrl: string;
  downloadUrl: string;
}

/** The addresses of a network behind a gateway on this machine. */
export function addressesOf(port: number, network: string): Addresses {
  const gateway = `http://127.0.0.1:${port}`;
  return { gateway, baseUrl: `${gateway}/${network}/v1/`, downloadUrl: `${gateway}/${network}/files` };
}

/** The call in the line of each family. */
const FIRST_CALLS: Record<Family, { method: string; params: unknown[] }> = {
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
export function rpcLines(gateway: string, apiKey: string, networks: readonly Network[]): string[] {
  const lines = networks.slice(0, SHOWN_NETWORKS).map(({ id, family, baseUrl, rpc }) => {
    const call = { jsonrpc: '2.0', id: 1, ...FIRST_CALLS[family] };
    const address = `${baseUrl ?? `${gateway}/${id}/v1/`}${rpc.open ? '' : apiKey}`;
    return `curl -s ${address} -H 'Content-Type: application/json' -d '${JSON.stringify(call)}'`;
  });
  return ['# JSON-RPC', ...lines];
}

/** Prints the key and lines to paste once a bundle is published. Returns whether it did. */
export async function introduce(
  database: Database,
  { kinds, network }: NetworkStatus,
  reporter: Reporter,
  access: { addresses: Addresses; apiKey: string },
): Promise<boolean> {
  const kind = kinds[0];
  if (kind === undefined || kind.bundles === 0) return false;
  const handle = database.network(network);
  const [bundle] = await handle.bundles.list(kind.kind, 0, 1);
  if (bundle === undefined) return false;
  const { published } = await handle.coverage(kind.kind);
  const newest = await handle.staging.newest();
  const packedUpTo = published.at(-1)?.end ?? -1;
  const newBlock = newest !== null && newest.number > packedUpTo ? newest.number : null;
  for (const line of curlLines({ ...access, kind: kind.kind, published: bundle, newBlock }))
    reporter.say(line);
  return true;
}

/** Lines to paste: the pointer of a block, its download, the pointer of a block that is still new. */
function curlLines(request: {
  addresses: Addresses;
  apiKey: string;
  kind: string;
  /** A published bundle. */
  published: { start: number; end: number };
  /** A block that is not packed yet, if there is one. */
  newBlock: number | null;
}): string[] {
  const { addresses, apiKey, kind, published, newBlock } = request;
  const pointer = (block: number): string =>
    `curl -s ${addresses.baseUrl}${apiKey}/bundle-api/${kind}/${block}`;
  const lines = [
    '',
    `API key: ${apiKey}`,
    '',
    '# the pointer of a block: which file holds it',
    pointer(published.start),
    '# its download',
    `curl -s -H 'Authorization: Bearer ${apiKey}' ${addresses.downloadUrl}/${kind}/${published.start}-${published.end}.json.gz | gunzip | head -c 600`,
  ];
  if (newBlock !== null) lines.push('# the pointer of a block that is still new', pointer(newBlock));
  return [...lines, ''];
}
