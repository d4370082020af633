/** One node: where it is asked, and where it tells of new blocks by itself. */
export interface NodeAddresses {
  url: string;
  ws?: string;
}

/**
 * The nodes behind the addresses of --rpc. A WebSocket address belongs to the HTTP address of the same host, else to
 * the one before it that has none yet; alone it stands for a node that answers HTTP at the same place, as Anvil, reth
 * and hosted nodes do.
 */
export function pairAddresses(addresses: readonly string[]): NodeAddresses[] {
  const nodes = addresses.map((url): NodeAddresses | null => (isWebSocket(url) ? null : { url }));
  for (const [index, address] of addresses.entries()) {
    if (!isWebSocket(address)) continue;
    const free = nodes.filter((node): node is NodeAddresses => node !== null && node.ws === undefined);
    const before = nodes.slice(0, index).filter((node) => node !== null && free.includes(node));
    const partner =
      free.find((node) => new URL(node.url).hostname === new URL(address).hostname) ?? before.at(-1) ?? null;
    if (partner !== null) partner.ws = address;
    else nodes[index] = { url: address.replace(/^ws/i, 'http'), ws: address };
  }
  return nodes.filter((node) => node !== null);
}

function isWebSocket(address: string): boolean {
  return /^wss?:/i.test(address);
}
