import { startDemoChain } from '@packhouse/local';
import { loadNetworks, type Network } from '@packhouse/networks';
import { type Context, PackhouseError } from '@packhouse/runtime';
import type { CliIo } from '../io.js';
import type { DataDirectory } from './data-directory.js';
import type { LocalOptions } from './options.js';
import { checkNetwork, preflight, type ReadyNetwork } from './preflight.js';
import type { Reporter } from './report.js';

/** The demo cuts small bundles, so that there is something to download within seconds. */
const DEMO_BUNDLES = { maxBytes: 1_000_000, maxBlocks: 64 };

/**
 * What the command line asks for, found ready: of the nodes of --rpc, else of a network of NETWORKS_FILE, else of a demo
 * chain. Null where there is a NETWORKS_FILE and no range or kinds are asked for: backfills say what is wanted.
 */
export async function openNode(parts: {
  io: CliIo;
  context: Context;
  options: LocalOptions;
  directory: DataDirectory;
  reporter: Reporter;
  onClose: (close: () => Promise<unknown> | unknown) => void;
}): Promise<ReadyNetwork | null> {
  const { io, context, options, directory, reporter, onClose } = parts;
  if (options.rpc.length > 0) {
    reporter.say('Asking the node …');
    return preflight(context, options, options.rpc);
  }
  if (io.env.NETWORKS_FILE) {
    const networks = await loadNetworks(io.env.NETWORKS_FILE, io.env);
    const network = pickNetwork(networks, options.network);
    if (!options.asked) return null;
    reporter.say('Asking the node …');
    return checkNetwork(context, network, options);
  }
  reporter.say('Starting a demo chain (Anvil); give --rpc URL for a node of your own …');
  const demo = await startDemoChain({
    directory: directory.in('demo'),
    logger: context.logger,
    signal: io.signal,
  });
  onClose(() => demo.stop());
  return preflight(
    context,
    { ...options, network: options.network ?? 'demo' },
    [demo.url, demo.url.replace('http', 'ws')],
    {
      bundles: { ...(options.kinds === null ? {} : { kinds: options.kinds }), ...DEMO_BUNDLES },
    },
  );
}

/** The network of this name, else the first one. Throws NETWORK_UNKNOWN. */
export function pickNetwork(networks: readonly Network[], name: string | null): Network {
  const network = name === null ? networks[0] : networks.find((each) => each.id === name);
  if (network !== undefined) return network;
  throw new PackhouseError({
    code: 'NETWORK_UNKNOWN',
    message: `The networks file has no network "${name}".`,
    hint: `It has ${networks.map((each) => each.id).join(', ')}.`,
  });
}
