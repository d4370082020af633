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
  /** Mines block `head + 1`. Safe to repeat after an error: a block that is there already is taken as it is. */
  mineNext(): Promise<void>;
}

/**
 * Takes over a fresh Anvil that does not mine by itself.
 *
 * Every block is made of what depends on its number alone: content, order, nonces, timestamp. The node adds a
 * mixHash that depends on how many blocks it mined since it started. So the same blocks, mined in order from
 * block 1, have the same hashes wherever and whenever that is done.
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
  let retrying = false;

  const actionsOf = (number: number): TypedAction[] =>
    cast === undefined ? planDeployment(deployer) : planBlock(number, cast, options.historyBlocks);

  const send = async (number: number, actions: readonly TypedAction[]): Promise<void> => {
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
    const signed = results.filter((_, index) => requests[index]!.from === blobSender) as string[];
    await rpc.batch(signed.map((raw) => ['eth_sendRawTransaction', withoutSidecar(raw)]));
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
      const actions = actionsOf(number);
      const there = retrying ? Number(await rpc.call('eth_blockNumber')) : head;
      retrying = true;
      if (there < number) {
        // What is left of an interrupted try, or what somebody else sent, would make another block of it.
        if (number > options.historyBlocks) await rpc.call('anvil_dropAllTransactions');
        await send(number, actions);
        await rpc.call('evm_mine', { timestamp: GENESIS_TIMESTAMP + SECONDS_A_BLOCK * number });
      }
      const block = (await rpc.call('eth_getBlockByNumber', quantity(number), false)) as {
        hash: string;
        transactions: string[];
      };
      if (block.transactions.length !== actions.length) {
        throw new PackhouseError({
          code: 'INTERNAL',
          message: `Block ${number} of the demo chain holds ${block.transactions.length} transactions, expected ${actions.length}.`,
          hint: 'Send nothing to the demo chain yourself; remove its folder to start a new one.',
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
      retrying = false;
    },
  };
}

/** Where the contracts of block 1 are. */
async function deployed(rpc: JsonRpc): Promise<ContractAddresses> {
  const receipts = (await rpc.call('eth_getBlockReceipts', '0x1')) as { contractAddress: string }[];
  const entries = Object.keys(CONTRACTS).map((name, index) => [name, receipts[index]!.contractAddress]);
  return Object.fromEntries(entries) as ContractAddresses;
}
