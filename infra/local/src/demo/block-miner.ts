import { PackhouseError } from '@packhouse/runtime';
import type { Cast } from './actions.js';
import { CONTRACTS, type ContractAddresses } from './contracts.js';
import type { JsonRpc } from './json-rpc.js';
import { planBlock, planDeployment } from './plan-block.js';
import { seededRandom } from './random.js';
import { quantity, type TypedAction, transactionRequest } from './transaction.js';

/** The demo chain as a networks file describes it. */
export const demoNetwork = {
  chainId: 31_337,
  /** Its node knows the `finalized` tag: two blocks behind the head. */
  finality: { tag: true, depth: 2 },
} as const;

/** 1 January 2025, 00:00 UTC. */
export const GENESIS_TIMESTAMP = 1_735_689_600;
/** As on mainnet. */
const SECONDS_A_BLOCK = 12;

/** Live blocks at the full pace: an hour of them, at one every 3 s. */
const FULL_PACE_BLOCKS = 1_200;

/**
 * The contract that keeps the last 8,191 block hashes (EIP-2935). Its code is removed: Anvil computes each state root
 * from the whole state, so 3,000 slots of it would make every block, empty or not, cost 2.5 ms more.
 */
const HISTORY_CONTRACT = '0x0000f90827f1c53a10cb7a02335b175320002935';

/** A side branch: what sets everything back to the block below it, and its blocks. */
interface Branch {
  snapshot: string;
  nonces: Map<string, number>;
  /** Of the first block after the one below, in wei. */
  baseFee: string;
  blocks: number;
}

/** Mines the demo chain on a fresh node, block by block. */
export interface BlockMiner {
  /** The newest block that was mined: its number, and its hash. */
  readonly head: number;
  readonly headHash: string;
  /**
   * Mines block `head + 1`. Safe to repeat after an error except DEMO_CHAIN_DISTURBED: then a foreign transaction is in
   * the block, and only a fresh node can make the right one.
   */
  mineNext(): Promise<void>;
  /**
   * Mines a block of a side branch above `head`, which `dropBranch` removes again. The chain that stays is the same as
   * without it. After an error only a fresh node can go on.
   */
  mineOnBranch(): Promise<void>;
  /** Sets the node back to block `head`. Returns how many blocks it removed. */
  dropBranch(): Promise<number>;
}

/**
 * Takes over a fresh Anvil that does not mine by itself.
 *
 * Content, order, nonces and timestamp of a block depend only on its number, and what the node adds (the mixHash) only
 * on the blocks before. So blocks that are mined in order from block 1 have the same hashes on every machine, at any
 * time.
 */
export async function createBlockMiner(options: {
  rpc: JsonRpc;
  historyBlocks: number;
}): Promise<BlockMiner> {
  const { rpc } = options;
  const accounts = (await rpc.call('eth_accounts')) as string[];
  const [deployer, blobSender, ...others] = accounts as [string, string, ...string[]];
  // Anvil takes a blob transaction without its blobs only from an account that it impersonates.
  await rpc.call('anvil_impersonateAccount', blobSender);
  await rpc.call('anvil_setCode', HISTORY_CONTRACT, '0x');

  let nonces = new Map<string, number>();
  let cast: Cast | undefined;
  let head = 0;
  let headHash = '';
  /** Hashes of the transactions sent for block `head + 1`; undefined before the first try. */
  let sent: string[] | undefined;
  let branch: Branch | undefined;

  const getActions = (number: number): TypedAction[] =>
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
      const actions = getActions(number);
      const there = sent === undefined ? head : Number(await rpc.call('eth_blockNumber'));
      if (there < number) {
        // Transactions of an interrupted try, or foreign ones, would make it another block.
        if (number > options.historyBlocks) await rpc.call('anvil_dropAllTransactions');
        sent = [];
        sent = await send(number, actions);
        await rpc.call('evm_mine', { timestamp: getTimestamp(number) });
      }
      const block = (await rpc.call('eth_getBlockByNumber', quantity(number), false)) as {
        hash: string;
        timestamp: string;
        transactions: string[];
      };
      if (block.transactions.join() !== sent?.join() || Number(block.timestamp) !== getTimestamp(number)) {
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
    mineOnBranch: async () => {
      await rpc.call('anvil_dropAllTransactions');
      branch ??= {
        snapshot: (await rpc.call('evm_snapshot')) as string,
        nonces: new Map(nonces),
        baseFee: await nextBaseFee(rpc),
        blocks: 0,
      };
      const number = head + branch.blocks + 1;
      // Without the first transaction and one second later: another block, whatever the planned one has.
      const actions = getActions(number).slice(1);
      await send(number, actions);
      await rpc.call('evm_mine', { timestamp: getTimestamp(number) + 1 });
      commit(actions);
      branch.blocks += 1;
    },
    dropBranch: async () => {
      if (branch === undefined) return 0;
      await rpc.call('evm_revert', branch.snapshot);
      // Anvil 1.7 goes on with the fee after the removed blocks.
      await rpc.call('anvil_setNextBlockBaseFeePerGas', branch.baseFee);
      const { blocks } = branch;
      nonces = branch.nonces;
      branch = undefined;
      return blocks;
    },
  };
}

async function nextBaseFee(rpc: JsonRpc): Promise<string> {
  const fees = (await rpc.call('eth_feeHistory', '0x1', 'latest', [])) as { baseFeePerGas: string[] };
  return fees.baseFeePerGas[1]!;
}

function getTimestamp(number: number): number {
  return GENESIS_TIMESTAMP + SECONDS_A_BLOCK * number;
}

/**
 * The pause before the next live block, in milliseconds. A restart mines the whole chain again, at about 200 blocks a
 * second, so a longer chain grows more slowly: 8,000 blocks after a day and one every 20 s, 22,000 after a week and one
 * a minute.
 */
export function pauseBeforeNextMs(liveBlocks: number, intervalMs: number): number {
  return intervalMs * Math.max(1, liveBlocks / FULL_PACE_BLOCKS);
}

/** The addresses of the contracts of block 1. */
async function deployed(rpc: JsonRpc): Promise<ContractAddresses> {
  const receipts = (await rpc.call('eth_getBlockReceipts', '0x1')) as { contractAddress: string }[];
  const entries = Object.keys(CONTRACTS).map((name, index) => [name, receipts[index]!.contractAddress]);
  return Object.fromEntries(entries) as ContractAddresses;
}

/**
 * Removes the sidecar of a signed blob transaction: the form on the network is
 * `0x03 || rlp([transaction, blobs, commitments, proofs])`, in a block it is
 * `0x03 || rlp(transaction)` (EIP-4844).
 *
 * Anvil 1.7 keeps the sidecar if it is there and then computes a transactionsRoot over the network form,
 * which no Ethereum node would accept.
 */
function withoutSidecar(signed: string): string {
  const bytes = Buffer.from(signed.slice(2), 'hex');
  const outer = listAt(bytes, 1);
  const transaction = listAt(bytes, outer.start);
  return `0x03${bytes.toString('hex', outer.start, transaction.end)}`;
}

/** Start and end of the payload of the RLP list at `at` (Yellow Paper, appendix B). */
function listAt(bytes: Buffer, at: number): { start: number; end: number } {
  const first = bytes[at]!;
  if (first <= 0xf7) return { start: at + 1, end: at + 1 + first - 0xc0 };
  const lengthBytes = first - 0xf7;
  const start = at + 1 + lengthBytes;
  return { start, end: start + bytes.readUIntBE(at + 1, lengthBytes) };
}
