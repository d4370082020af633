import path from 'node:path';
import {
  describeError,
  isPackhouseError,
  type Logger,
  PackhouseError,
  systemClock,
} from '@packhouse/runtime';
import { type Anvil, startAnvil } from '../anvil/anvil.js';
import {
  type BlockMiner,
  createBlockMiner,
  demoNetwork,
  GENESIS_TIMESTAMP,
  pauseBeforeNextMs,
} from './block-miner.js';
import { type ChainFile, readChainFile, writeChainFile } from './chain-file.js';
import { createJsonRpc, type JsonRpc } from './json-rpc.js';
import { createReorganisations } from './reorganisations.js';

const DEFAULT_HISTORY_BLOCKS = 240;

/** Names everything that could change a hash, so that a changed default of Anvil does not change the chain. */
const ANVIL_ARGS = [
  `--chain-id=${demoNetwork.chainId}`,
  '--hardfork=osaka',
  `--timestamp=${GENESIS_TIMESTAMP}`,
  '--mnemonic=test test test test test test test test test test test junk',
  '--accounts=10',
  '--gas-limit=60000000',
  '--block-base-fee-per-gas=1000000000',
  '--order=fees',
  // Blocks are mined when they are asked for.
  '--no-mining',
  // Without it Anvil writes the whole state of each block below ~/.foundry: gigabytes after a few thousand blocks.
  '--prune-history',
];

/** A block is final two epochs later: two blocks, or four if the chain reorganises. It changes no hash. */
const slotsInAnEpoch = (reorganises: boolean): string => `--slots-in-an-epoch=${reorganises ? 2 : 1}`;

interface StartDemoChainOptions {
  /** For the length of the chain and the pid of the node. */
  directory: string;
  /** Pause between new blocks, in milliseconds; default 3,000. It grows slowly with the length of the chain. */
  intervalMs?: number;
  /** Blocks that the start mines; default 240. A chain that exists keeps its own number. */
  historyBlocks?: number;
  /** Replaces the newest blocks this often, one to three of them; default: never. */
  reorgEveryMs?: number;
  /** TCP port of the node; default: a free one. */
  port?: number;
  logger?: Logger;
  /** When aborted, no more blocks are mined and a start fails with its reason. The node runs until `stop`. */
  signal?: AbortSignal;
}

/** A running demo chain. */
interface DemoChain {
  /** JSON-RPC address of its node. */
  url: string;
  /** Process id of the node; another one after it was started again. */
  readonly pid: number;
  /** The last block of the history; live blocks follow. */
  historyHead: number;
  /** The newest block. */
  readonly head: number;
  /** Stops making blocks and ends the node; safe to call twice. */
  stop(): Promise<void>;
}

interface Node {
  anvil: Anvil;
  rpc: JsonRpc;
  miner: BlockMiner;
}

/**
 * Starts the demo chain: a real Anvil node with a varied history, and a new block every few seconds.
 *
 * The chain is not stored: each block is a pure function of its number, so the next start mines the same blocks again,
 * with the same hashes, up to the last one's head, and continues. A node that dies is started again on the same port in
 * the same way. Failures after the start are logged and tried again. What a reorganisation removes are blocks of side
 * branches, so the chain that stays is the same without them.
 *
 * Throws CHILD_FAILED if Anvil cannot start, DATA_DIR_UNUSABLE, DATA_DIR_NEWER or DATA_DIR_BUSY for the folder.
 */
export async function startDemoChain(options: StartDemoChainOptions): Promise<DemoChain> {
  const { directory, logger, intervalMs = 3_000, reorgEveryMs } = options;
  const known = await readChainFile(directory);
  const historyBlocks = known?.historyBlocks ?? options.historyBlocks ?? DEFAULT_HISTORY_BLOCKS;
  const stopping = new AbortController();
  const signal = AbortSignal.any([
    stopping.signal,
    ...(options.signal === undefined ? [] : [options.signal]),
  ]);

  const open = async (blocks: number, port?: number): Promise<Node> => {
    const pidFile = path.join(directory, 'anvil.pid');
    const anvil = await startAnvil({
      args: [...ANVIL_ARGS, slotsInAnEpoch(reorgEveryMs !== undefined)],
      pidFile,
      ...(port && { port }),
      ...(logger && { logger }),
    });
    const rpc = createJsonRpc(anvil.url);
    try {
      const miner = await createBlockMiner({ rpc, historyBlocks });
      await mineUpTo(blocks, miner, known, signal);
      return { anvil, rpc, miner };
    } catch (error) {
      await close({ anvil, rpc });
      throw error;
    }
  };

  const startedAt = performance.now();
  let node = await open(Math.max(historyBlocks, known?.blocks ?? 0), options.port);
  const ms = Math.round(performance.now() - startedAt);
  logger?.info({ url: node.anvil.url, blocks: node.miner.head, ms }, 'the demo chain runs');

  const reorganisations = createReorganisations(reorgEveryMs);
  const mineBlock = async (): Promise<void> => {
    const { miner } = node;
    const checkpoint = { number: miner.head, hash: miner.headHash };
    await writeChainFile(directory, { historyBlocks, blocks: miner.head + 1, checkpoint });
    await miner.mineNext();
  };
  const mine = {
    block: mineBlock,
    branch: async () => {
      await node.miner.mineOnBranch();
      reorganisations.grown();
    },
    replace: async () => {
      const blocks = await node.miner.dropBranch();
      logger?.info({ above: node.miner.head, blocks }, 'the demo chain reorganises');
      reorganisations.dropped();
      for (let block = 0; block <= blocks; block++) await mineBlock();
    },
  };
  const advance = async (): Promise<void> => {
    if (!node.anvil.running) {
      logger?.warn({ pid: node.anvil.pid }, 'the node of the demo chain has ended; starting it again');
      await close(node);
      reorganisations.dropped();
      node = await open(node.miner.head, node.anvil.port);
    }
    const next = reorganisations.next();
    try {
      await mine[next]();
    } catch (error) {
      // A mined block cannot be undone: the next try starts a fresh node.
      if (next !== 'block' || isPackhouseError(error, 'DEMO_CHAIN_DISTURBED')) await close(node);
      throw error;
    }
  };

  const live = (async () => {
    while (!signal.aborted) {
      const pause = pauseBeforeNextMs(node.miner.head - historyBlocks, intervalMs);
      const stopped = await systemClock.sleep(pause, signal).then(
        () => false,
        () => true,
      );
      if (stopped) return;
      await advance().catch((error: unknown) => {
        if (!signal.aborted)
          logger?.warn({ reason: describeError(error) }, 'no new demo block; trying again');
      });
    }
  })();

  return {
    url: node.anvil.url,
    historyHead: historyBlocks,
    get pid() {
      return node.anvil.pid;
    },
    get head() {
      return node.miner.head;
    },
    stop: async () => {
      stopping.abort(new Error('the demo chain was stopped'));
      // A call that hangs must not delay the end.
      await node.rpc.close();
      await live;
      await close(node);
    },
  };
}

/** Mines up to block `blocks`; the block that a former run noted must have the same hash. */
async function mineUpTo(
  blocks: number,
  miner: BlockMiner,
  known: ChainFile | undefined,
  signal: AbortSignal,
): Promise<void> {
  while (miner.head < blocks) {
    signal.throwIfAborted();
    await miner.mineNext();
    if (miner.head === known?.checkpoint.number && miner.headHash !== known.checkpoint.hash) {
      throw new PackhouseError({
        code: 'DATA_DIR_UNUSABLE',
        message: `The demo chain of this data folder was made by another version: its block ${miner.head} was ${known.checkpoint.hash}, now it is ${miner.headHash}.`,
        hint: 'Remove the data folder to start a new demo chain.',
      });
    }
  }
}

async function close(node: Pick<Node, 'anvil' | 'rpc'>): Promise<void> {
  await node.rpc.close();
  await node.anvil.stop();
}
