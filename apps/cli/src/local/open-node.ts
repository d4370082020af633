import { loadNetworks, type Network } from '@packhouse/networks';
import { PackhouseError } from '@packhouse/runtime';
import { requirePackages } from '../installation/packages.js';
import type { LocalRun } from './local-run.js';
import { checkNetwork, preflight, type ReadyNetwork } from './preflight.js';

/** Small bundles, so that the first one is published within seconds. */
const DEMO_BUNDLES = { maxBytes: 1_000_000, maxBlocks: 64 };

/**
 * The range of the command line, whose nodes were asked: those of --rpc, else of a network of NETWORKS_FILE, else of a
 * demo chain. Null with a NETWORKS_FILE if no range and no kinds are given: then backfills order ranges.
 */
export async function openNode({
  io,
  context,
  options,
  directory,
  reporter,
  onClose,
}: LocalRun): Promise<ReadyNetwork | null> {
  if (options.rpc.length > 0) {
    reporter.step('Probing the node …');
    return preflight(context, options, options.rpc);
  }
  if (io.env.NETWORKS_FILE) {
    const networks = await loadNetworks(io.env.NETWORKS_FILE, io.env);
    const network = pickNetwork(networks, options.network);
    if (!options.asked) return null;
    reporter.step('Probing the node …');
    return checkNetwork(context, network, options);
  }
  reporter.step('Starting the demo chain (Anvil) …');
  requirePackages('The demo chain', ['local']);
  const { startDemoChain } = await import('@packhouse/local');
  const demo = await startDemoChain({
    directory: directory.in('demo'),
    logger: context.logger,
    signal: io.signal,
    ...(options.reorgEvery !== null && { reorgEveryMs: options.reorgEvery * 1_000 }),
  });
  onClose(() => demo.stop());
  return preflight(
    context,
    { ...options, network: options.network ?? 'demo' },
    [demo.url, demo.url.replace('http', 'ws')],
    { bundles: { ...(options.kinds && { kinds: options.kinds }), ...DEMO_BUNDLES } },
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
