import type { OperationParts } from './operation.js';

/**
 * The registered networks as clients reach them. `family` is null if this process has no networks file that says it,
 * `address` (of files and feed) and `jsonRpc` are null if it does not know the gateway.
 */
export async function describeNetworks({
  database,
  networks,
  gatewayUrl,
}: Pick<OperationParts, 'database' | 'networks' | 'gatewayUrl'>) {
  const configured = new Map((networks?.() ?? []).map((network) => [network.id, network]));
  return (await database.networks.list()).map(({ id, chainId }) => {
    const { family, baseUrl } = configured.get(id) ?? {};
    const address = gatewayUrl === undefined ? null : `${gatewayUrl}/${id}`;
    const jsonRpc = baseUrl ?? (address === null ? null : `${address}/v1/`);
    return { id, chainId, family: family ?? null, address, jsonRpc };
  });
}
