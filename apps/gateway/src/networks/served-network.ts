import type { Network } from '@packhouse/networks';

/** The path at which requests arrive, and the host name if networks are distinguished by it. */
export interface Mount {
  /** Lower case, without a port; absent: any host. */
  host?: string;
  /** No slash at the end. */
  path: string;
}

/** A network with its addresses. */
export interface ServedNetwork {
  readonly network: Network;
  readonly base: Mount;
  readonly files: Mount;
  /** `{base_url}` of the README, with the slash at the end. */
  baseUrl: string;
  /** `{download_url}` of the README, no slash at the end. */
  downloadUrl: string;
}

/** Adds the addresses to networks. `publicUrl` is the public address of this server, without a slash at the end. */
export function serveNetworks(networks: readonly Network[], publicUrl: string): ServedNetwork[] {
  return networks.map((network) => {
    const urls = publicUrls(network, publicUrl);
    return {
      network,
      ...urls,
      base: getMount(urls.baseUrl, publicUrl),
      files: getMount(urls.downloadUrl, publicUrl),
    };
  });
}

/** The public addresses of a network: its own, or below `publicUrl`. */
export function publicUrls(
  network: Network,
  publicUrl: string,
): Pick<ServedNetwork, 'baseUrl' | 'downloadUrl'> {
  return {
    baseUrl: network.baseUrl ?? `${publicUrl}/${network.id}/v1/`,
    downloadUrl: network.downloadUrl ?? `${publicUrl}/${network.id}/files`,
  };
}

/** Whether an address of a network is below that of this server. */
export function isBelowServer(
  { network }: Pick<ServedNetwork, 'network'>,
  which: 'baseUrl' | 'downloadUrl',
): boolean {
  return network[which] === undefined;
}

/** Whether some address of some network is below that of this server. */
export function areBelowServer(networks: readonly ServedNetwork[]): boolean {
  return networks.some((each) => isBelowServer(each, 'baseUrl') || isBelowServer(each, 'downloadUrl'));
}

/** Ports are left out on purpose: behind a proxy the Host header may or may not carry one. */
function getMount(address: string, publicUrl: string): Mount {
  const url = new URL(address);
  const path = url.pathname.replace(/\/+$/, '');
  return url.hostname === new URL(publicUrl).hostname ? { path } : { host: url.hostname, path };
}

/** The addresses of JSON-RPC of a network: `keyed` with a key in the path, and without one if the network is open. */
export function rpcAddresses({ base, network }: ServedNetwork): { path: string; keyed: boolean }[] {
  const open = network.rpc.open ? [base.path, `${base.path}/`] : [];
  return [...open.map((path) => ({ path, keyed: false })), { path: `${base.path}/:key`, keyed: true }];
}
