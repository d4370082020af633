import { startDemoChain } from '@packhouse/local';
import type { Context } from '@packhouse/runtime';
import type { CliIo } from '../io.js';
import type { DataDirectory } from './data-directory.js';
import type { LocalOptions } from './options.js';
import { preflight, type ReadyNetwork } from './preflight.js';
import type { Reporter } from './report.js';

/** The demo cuts small bundles, so that there is something to download within seconds. */
const DEMO_BUNDLES = { maxBytes: 1_000_000, maxBlocks: 64 };

/** The nodes of --rpc, else those of NETWORKS_FILE (null: as that file says), else a demo chain. */
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
  if (io.env.NETWORKS_FILE) return null;
  reporter.say('Starting a demo chain (Anvil); give --rpc URL for a node of your own …');
  const demo = await startDemoChain({
    directory: directory.in('demo'),
    logger: context.logger,
    signal: io.signal,
  });
  onClose(() => demo.stop());
  return preflight(context, { ...options, network: options.network ?? 'demo' }, [demo.url], {
    bundles: { kinds: options.kinds, ...DEMO_BUNDLES },
  });
}
