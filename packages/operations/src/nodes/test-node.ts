import { type Network, parseNetworks } from '@packhouse/networks';
import { type Context, openScope } from '@packhouse/runtime';
import { z } from 'zod';
import { askChainId } from '../doctor/ask-chain-id.js';
import { COLUMNS } from '../doctor/chart.js';
import { examine } from '../doctor/examine.js';
import { fail } from '../operation/fail.js';
import { networkField, numberField } from '../operation/fields.js';
import { change } from '../operation/operation.js';

/** Of a request, and of all of them: a browser waits for the answer. */
const TIMEOUT_MS = 3_000;
const LIMIT_MS = 20_000;
const MAX_URL = 2_000;

/**
 * A change, so that the address, which may hold a secret, is in no URL of the console, and admins alone make the console
 * connect to addresses of their choice.
 */
export const testNode = change({
  name: 'nodes/test',
  role: 'admin',
  summary:
    'Checks an address of an EVM node as `packhouse doctor` does, and returns what a networks file needs besides it; nothing is stored.',
  input: z.object({
    network: networkField.describe('how the network is to be called'),
    url: z.string().min(1).max(MAX_URL).describe('JSON-RPC address of the node'),
    chainId: numberField(1, Number.MAX_SAFE_INTEGER).optional().describe('default: what the node says'),
  }),
  run: async ({ context, database }, { network, url, chainId: given }) => {
    toNetwork(network, url, given ?? 1);
    const chainId = given ?? (await askWithin(context, url));
    const known = (await database.networks.list()).find(({ id }) => id === network);
    if (known !== undefined && known.chainId !== chainId) {
      fail(
        'NODE_WRONG_CHAIN',
        `Network "${network}" has chain id ${known.chainId}, and the node is on chain ${chainId}.`,
        'Choose another name for the network of this node.',
      );
    }
    const [chart] = await examine(toNetwork(network, url, chainId), {
      context,
      timeoutMs: TIMEOUT_MS,
      limitMs: LIMIT_MS,
    });
    if (chart === undefined) throw new Error('a network has an upstream');
    const { usable, head, finalized, findings, cells } = chart;
    return {
      network,
      chainId,
      usable,
      head,
      finalized,
      findings: findings.map(({ level, message, hint }) => ({ level, message, hint })),
      checks: COLUMNS.map((name) => ({ name, ...cells[name] })),
    };
  },
});

async function askWithin({ signal, clock }: Context, url: string): Promise<number> {
  const scope = openScope(signal, AbortSignal.timeout(TIMEOUT_MS));
  try {
    return await askChainId([url], { clock, signal: scope.signal });
  } finally {
    scope.close();
  }
}

/** As a networks file has it. No variable is filled in: those of the console are no business of a node. */
function toNetwork(id: string, url: string, chainId: number): Network {
  const file = { networks: [{ id, family: 'evm', chainId, upstreams: [{ url }] }] };
  const [network] = parseNetworks(JSON.stringify(file), { source: 'of this node', env: {} });
  return network as Network;
}
