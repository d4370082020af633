import {
  type BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  type Hash,
  type Hex,
  http,
  type PublicClient,
  parseAbi,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { CONTRACT_ABI, CONTRACT_CODE, DEV_ACCOUNT } from './contract.js';
import { type ChainGateway, startChainGateway } from './start-gateway.js';

const abi = parseAbi(CONTRACT_ABI);
let chain: ChainGateway;
let client: PublicClient;
let from: Hex;
let contract: Hex;

/** Sends a transaction on the node itself and mines a block for it. */
async function send(data: Hex, to?: Hex): Promise<Hash> {
  const hash = await chain.node<Hash>('eth_sendTransaction', [{ from, to, data, gas: '0x7a120' }]);
  await chain.node('anvil_mine', ['0x1']);
  return hash;
}

const word = (n: number): string => n.toString(16).padStart(64, '0');
/** `ping(uint256)`. */
const ping = (n: number): Promise<Hash> => send(`0x773acdef${word(n)}`, contract);

beforeAll(async () => {
  chain = await startChainGateway(inject('postgresUrl'));
  [from] = (await chain.node<[Hex]>('eth_accounts')) as [Hex];
  const hash = await send(CONTRACT_CODE);
  const receipt = await chain.node<{ contractAddress: Hex }>('eth_getTransactionReceipt', [hash]);
  contract = receipt.contractAddress;
  client = createPublicClient({ transport: http(chain.url, { retryCount: 0 }), pollingInterval: 100 });
});
afterAll(() => chain?.close());

describe('viem', () => {
  it('reads blocks, transactions, receipts, logs and storage as from the node itself', async () => {
    const hash = await ping(1);
    const receipt = await client.getTransactionReceipt({ hash });
    expect(receipt).toMatchObject({ status: 'success', to: contract, transactionHash: hash });
    const { blockHash, blockNumber } = receipt;
    expect(await client.getChainId()).toBe(31_337);
    expect(await client.getBlock({ blockHash, includeTransactions: true })).toMatchObject({
      number: blockNumber,
      transactions: [{ hash }],
    });
    expect(await client.getBlock({ blockNumber })).toMatchObject({ hash: blockHash, transactions: [hash] });
    const transaction = await client.getTransaction({ hash });
    expect(await client.getTransaction({ blockHash, index: 0 })).toEqual(transaction);
    expect(await client.getTransaction({ blockNumber, index: 0 })).toEqual(transaction);
    const logs = await client.getContractEvents({ abi, address: contract, fromBlock: 0n, strict: true });
    expect(logs.at(-1)).toMatchObject({ eventName: 'Ping', args: { id: 1n }, transactionHash: hash });
    expect(await client.getLogs({ blockHash })).toHaveLength(1);
    expect(await client.getStorageAt({ address: contract, slot: '0x0' })).toBe(`0x${word(0)}`);
    await expect(client.getTransaction({ hash: `0x${word(1)}` })).rejects.toThrow('could not be found');
  });

  it('reads contracts, and decodes what they revert with', async () => {
    const read = (functionName: 'refuse' | 'climb', args: [] | [bigint]) =>
      client.readContract({ abi, address: contract, functionName, args } as never).then(
        () => undefined,
        (error: BaseError) => error.walk((e) => e instanceof ContractFunctionRevertedError),
      );
    expect(await client.readContract({ abi, address: contract, functionName: 'get', args: [42n] })).toBe(42n);
    expect(await read('refuse', [])).toMatchObject({ reason: 'not today' });
    expect(await read('climb', [7n])).toMatchObject({ data: { errorName: 'TooLow', args: [7n] } });
  });

  it('reads balances, code, nonces, proofs, fees and what a transaction will cost', async () => {
    const account = DEV_ACCOUNT.address;
    const head = await client.getBlockNumber();
    expect(await client.getBalance({ address: account })).toBeGreaterThan(0n);
    expect(await client.getCode({ address: contract })).toBe(`0x${CONTRACT_CODE.slice(26)}`);
    expect(await client.getTransactionCount({ address: account, blockNumber: head })).toBe(Number(head));
    expect(await client.getProof({ address: contract, storageKeys: [`0x${word(0)}`] })).toMatchObject({
      balance: 0n,
      storageProof: [{ value: 0n }],
    });
    const history = await client.getFeeHistory({ blockCount: 2, rewardPercentiles: [25, 75] });
    expect(history.baseFeePerGas).toHaveLength(history.gasUsedRatio.length + 1);
    expect(await client.getGasPrice()).toBeGreaterThan(0n);
    expect(await client.estimateMaxPriorityFeePerGas()).toBeGreaterThanOrEqual(0n);
    expect((await client.estimateFeesPerGas()).maxFeePerGas).toBeGreaterThan(0n);
    expect(await client.getBlobBaseFee()).toBeGreaterThan(0n);
    expect(await client.getBlockTransactionCount({ blockNumber: head })).toBe(1);
    const gas = await client.estimateContractGas({
      abi,
      account,
      address: contract,
      functionName: 'ping',
      args: [1n],
    });
    expect(gas).toBeGreaterThan(21_000n);
  });

  it('sends batches', async () => {
    const batching = createPublicClient({ transport: http(chain.url, { batch: true, retryCount: 0 }) });
    const numbers = await Promise.all([
      batching.getChainId(),
      batching.getBlock({ blockNumber: 0n }).then(({ number }) => number),
      batching.readContract({ abi, address: contract, functionName: 'get', args: [5n] }),
      batching.getTransactionReceipt({ hash: `0x${word(9)}` }).catch(({ name }: Error) => name),
    ]);
    expect(numbers).toEqual([31_337, 0n, 5n, 'TransactionReceiptNotFoundError']);
  });

  it('sends batches of several hundred calls, and calls of several hundred contract reads', async () => {
    const batching = createPublicClient({ transport: http(chain.url, { batch: true, retryCount: 0 }) });
    const ids = Array.from({ length: 600 }, (_, id) => BigInt(id));
    const of = (id: bigint) => ({ abi, address: contract, functionName: 'get', args: [id] }) as const;
    expect(await Promise.all(ids.map((id) => batching.readContract(of(id))))).toEqual(ids);
    const multicall = { contracts: ids.map(of), deployless: true, allowFailure: false } as const;
    expect(await client.multicall(multicall)).toEqual(ids);
  });

  it('watches an event, each once, and hears of what a reorganisation removed', async () => {
    const seen: { id: bigint; removed: boolean }[] = [];
    const unwatch = client.watchContractEvent({
      abi,
      address: contract,
      eventName: 'Ping',
      strict: true,
      onLogs: (logs) => seen.push(...logs.map((log) => ({ id: log.args.id, removed: log.removed }))),
    });
    try {
      // The filter is made at some time after this; the first ping that is seen shows that it was.
      for (let id = 100; seen.length === 0; id++) {
        await ping(id);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      await ping(11);
      await ping(12);
      await vi.waitFor(() => expect(seen.at(-1)?.id).toBe(12n), { timeout: 120_000 });
      await chain.node('anvil_reorg', [1, []]);
      await ping(13);
      await vi.waitFor(() => expect(seen.at(-1)?.id).toBe(13n), { timeout: 120_000 });
      expect(seen.filter(({ id }) => id < 20n)).toEqual([
        { id: 11n, removed: false },
        { id: 12n, removed: false },
        { id: 12n, removed: true },
        { id: 13n, removed: false },
      ]);
    } finally {
      unwatch();
    }
  });

  it('watches logs, blocks and waiting transactions', async () => {
    const [ids, blocks, waiting]: [bigint[], bigint[], Hash[]] = [[], [], []];
    const stop = [
      client.watchEvent({
        address: contract,
        onLogs: (logs) => ids.push(...logs.map(({ topics }) => BigInt(topics[1] as Hex))),
      }),
      client.watchBlocks({ emitMissed: true, onBlock: ({ number }) => blocks.push(number) }),
      client.watchPendingTransactions({ onTransactions: (hashes) => waiting.push(...hashes) }),
    ];
    try {
      for (let id = 200; ids.length === 0 || blocks.length === 0; id++) {
        await ping(id);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      const hash = await chain.node<Hash>('eth_sendTransaction', [{ from, to: contract, gas: '0x7a120' }]);
      await vi.waitFor(() => expect(waiting).toContain(hash), { timeout: 120_000, interval: 100 });
      for (const id of [21, 22]) await ping(id);
      await vi.waitFor(() => expect(ids.slice(-2)).toEqual([21n, 22n]), { timeout: 120_000 });
      const head = BigInt(await chain.node<Hex>('eth_blockNumber'));
      await vi.waitFor(() => expect(blocks.at(-1)).toBe(head), { timeout: 120_000 });
      expect(blocks).toEqual(blocks.map((_, at) => (blocks[0] as bigint) + BigInt(at)));
    } finally {
      for (const end of stop) end();
    }
  });

  it('signs transactions, sends them and waits for their receipts', async () => {
    const account = privateKeyToAccount(DEV_ACCOUNT.key);
    const wallet = createWalletClient({
      account,
      transport: http(chain.url, { retryCount: 0 }),
    });
    const data = encodeFunctionData({ abi, functionName: 'ping', args: [41n] });
    const hash = await wallet.sendTransaction({ chain: null, to: contract, data });
    const receipt = client.waitForTransactionReceipt({ hash });
    expect(await client.getTransaction({ hash })).toMatchObject({ blockNumber: null, input: data });
    await chain.node('anvil_mine', ['0x1']);
    expect(await receipt).toMatchObject({
      status: 'success',
      logs: [{ topics: [expect.any(String), `0x${word(41)}`] }],
    });
    const written = await wallet.writeContract({
      chain: null,
      abi,
      address: contract,
      functionName: 'ping',
      args: [42n],
    });
    await chain.node('anvil_mine', ['0x1']);
    expect(await client.waitForTransactionReceipt({ hash: written })).toMatchObject({ status: 'success' });
    // A wallet that is not sure sends the same bytes again.
    const nonce = await client.getTransactionCount({ address: account.address, blockTag: 'pending' });
    const { maxFeePerGas, maxPriorityFeePerGas } = await client.estimateFeesPerGas();
    const serializedTransaction = await account.signTransaction({
      to: contract,
      data,
      nonce,
      maxFeePerGas,
      maxPriorityFeePerGas,
      gas: 100_000n,
      chainId: 31_337,
    });
    const first = await client.sendRawTransaction({ serializedTransaction });
    expect(await client.sendRawTransaction({ serializedTransaction })).toBe(first);
    await chain.node('anvil_mine', ['0x1']);
  });
});
