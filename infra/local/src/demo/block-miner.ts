import { PackhouseError } from '@packhouse/runtime';
import { withoutSidecar } from './blob-transaction.js';
import type { Cast } from './cast.js';
import { CONTRACTS, type ContractAddresses } from './contracts.js';
import { demoNetwork } from './demo-network.js';
import type { JsonRpc } from './json-rpc.js';
import { planBlock, planDeployment } from './plan-block.js';
import { seededRandom } from './random.js';
import { quantity, type TypedAction, transactionRequest } from './transaction.js';

/** 1 January 2025, 00:00 UTC. */
export const GENESIS_TIMESTAMP = 1_735_689_600;
/** As on mainnet. */
export const SECONDS_A_BLOCK = 12;

/**
 * The contract that keeps the last 8,191 block hashes (EIP-2935). It is taken away: Anvil computes a block's
 * state root from the whole state, so 3,000 slots in there make each block, empty or not, cost 2.5 ms more.
 */
const HISTORY_CONTRACT = '0x0000f90827f1c53a10cb7a02335b175320002935';

/** Mines the demo chain on a fresh node, block by block. */
export interface BlockMiner {
  /** The number of the newest block that was mined. */
  readonly head: number;
  /** Its hash. */
  readonly headHash: string;
  /**
   * Mines block `head + 1`. Safe to repeat after an error, but for DEMO_CHAIN_DISTURBED: then somebody else's
   * transaction got into the block, and only a fresh node can make the right one.
   */
  mineNext(): Promise<void>;
}

/**
 * Takes over a fresh Anvil that does not mine by itself.
 *
 * Every block is made of what depends on its number alone: content, order, nonces, timestamp. What the node
 * adds, the mixHash above all, it derives from what came before. So the same blocks, mined in order from block
 * 1, have the same hashes wherever and whenever that is done.
 */
export async function createBlockMiner(options: {
  rpc: JsonRpc;
  historyBlocks: number;
}): Promise<BlockMiner> {
  const { rpc } = options;
  const accounts = (await rpc.call('eth_accounts')) as string[];
  const [deployer, blobSender, ...others] = accounts as [string, string, ...string[]];
  // Only for an account it impersonates does Anvil take a blob transaction that comes without its blobs.
  await rpc.call('anvil_impersonateAccount', blobSender);
  await rpc.call('anvil_setCode', HISTORY_CONTRACT, '0x');

  const nonces = new Map<string, number>();
  let cast: Cast | undefined;
  let head = 0;
  let headHash = '';
  /** Hashes of what was sent for block `head + 1`; undefined before the first try. */
  let sent: string[] | undefined;

  const actionsOf = (number: number): TypedAction[] =>
    cast === undefined ? planDeployment(deployer) : planBlock(number, cast, options.historyBlocks);

  const send = async (number: number, actions: readonly TypedAction[]): Promise<string[]> => {
    const next = new Map(nonces);
    const { hex } = seededRandom(-number);
    const requests = actions.map((action, position) => {
      const nonce = next.get(action.from) ?? 0;
      next.set(action.from, nonce + 1);
      const delegate = cast?.contracts.router ?? deployer;
      return transactionRequest({ action, nonce, position, chainId: demoNetwork.chainId, hex, delegate });
    });
    const results = await rpc.batch(
      requests.map((request) => [
        request.from === blobSender ? 'eth_signTransaction' : 'eth_sendTransaction',
        request,
      ]),
    );
    const hashes = results as string[];
    const blobs = requests.flatMap(({ from }, index) => (from === blobSender ? [index] : []));
    const blobHashes = await rpc.batch(
      blobs.map((index) => ['eth_sendRawTransaction', withoutSidecar(hashes[index]!)]),
    );
    for (const [at, index] of blobs.entries()) hashes[index] = blobHashes[at] as string;
    return hashes;
  };

  const commit = (actions: readonly TypedAction[]): void => {
    for (const { from } of actions) nonces.set(from, (nonces.get(from) ?? 0) + 1);
  };

  return {
    get head() {
      return head;
    },
    get headHash() {
      return headHash;
    },
    mineNext: async () => {
      const number = head + 1;
      const timestamp = GENESIS_TIMESTAMP + SECONDS_A_BLOCK * number;
      const actions = actionsOf(number);
      const there = sent === undefined ? head : Number(await rpc.call('eth_blockNumber'));
      if (there < number) {
        // What is left of an interrupted try, or what somebody else sent, would make another block of it.
        if (number > options.historyBlocks) await rpc.call('anvil_dropAllTransactions');
        sent = [];
        sent = await send(number, actions);
        await rpc.call('evm_mine', { timestamp });
      }
      const block = (await rpc.call('eth_getBlockByNumber', quantity(number), false)) as {
        hash: string;
        timestamp: string;
        transactions: string[];
      };
      if (block.transactions.join() !== sent?.join() || Number(block.timestamp) !== timestamp) {
        throw new PackhouseError({
          code: 'DEMO_CHAIN_DISTURBED',
          message: `Block ${number} of the demo chain is not the one that was planned: somebody else sent transactions or mined.`,
          hint: 'Only read from the demo chain; to write, run an Anvil of your own and give it with --rpc.',
        });
      }
      cast ??= {
        people: [deployer, ...others],
        blobSender,
        contracts: await deployed(rpc),
      };
      commit(actions);
      head = number;
      headHash = block.hash;
      sent = undefined;
    },
  };
}

/** Where the contracts of block 1 are. */
async function deployed(rpc: JsonRpc): Promise<ContractAddresses> {
  const receipts = (await rpc.call('eth_getBlockReceipts', '0x1')) as { contractAddress: string }[];
  const entries = Object.keys(CONTRACTS).map((name, index) => [name, receipts[index]!.contractAddress]);
  return Object.fromEntries(entries) as ContractAddresses;
}
