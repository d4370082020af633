import { Interface } from 'ethers';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { CONTRACT_ABI, CONTRACT_CODE, DEV_ACCOUNT } from './contract.js';
import { isInstalled, library, UNLESS_INSTALLED } from './library.js';
import { type ChainGateway, startChainGateway } from './start-gateway.js';

/** What these tests use of web3.js. */
interface Web3 {
  eth: Record<Call, (...params: unknown[]) => Promise<unknown>> & {
    accounts: { signTransaction(transaction: object, key: string): Promise<{ rawTransaction: string }> };
    net: { getId(): Promise<bigint> };
    Contract: new (abi: readonly object[], address: string) => Contract;
    transactionPollingInterval: number;
  };
  BatchRequest: new () => { add(request: object): Promise<unknown>; execute(): Promise<unknown[]> };
}
type Call =
  | 'calculateFeeData'
  | 'createNewBlockFilter'
  | 'createNewFilter'
  | 'createNewPendingTransactionFilter'
  | 'getBalance'
  | 'getBlock'
  | 'getBlockNumber'
  | 'getBlockTransactionCount'
  | 'getBlockUncleCount'
  | 'getChainId'
  | 'getCode'
  | 'getFeeHistory'
  | 'getFilterChanges'
  | 'getFilterLogs'
  | 'getGasPrice'
  | 'getNodeInfo'
  | 'getPastLogs'
  | 'getProof'
  | 'getStorageAt'
  | 'getTransaction'
  | 'getTransactionCount'
  | 'getTransactionFromBlock'
  | 'getTransactionReceipt'
  | 'isSyncing'
  | 'sendSignedTransaction'
  | 'uninstallFilter';
interface Contract {
  methods: Record<
    'climb' | 'get' | 'ping' | 'refuse',
    (...params: unknown[]) => {
      call(): Promise<unknown>;
      encodeABI(): string;
      estimateGas(of: object): Promise<bigint>;
    }
  >;
  getPastEvents(name: string, range: object): Promise<{ returnValues: { id: bigint } }[]>;
}

const abi = JSON.parse(new Interface(CONTRACT_ABI).formatJson()) as object[];
let chain: ChainGateway;
let web3: Web3;
let contract: Contract;
let address: string;

const word = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;

/** Sends a transaction on the node itself and mines a block for it. */
async function send(data: string, to?: string): Promise<string> {
  const from = DEV_ACCOUNT.address;
  const hash = await chain.node<string>('eth_sendTransaction', [{ from, to, data, gas: '0x7a120' }]);
  await chain.node('anvil_mine', ['0x1']);
  return hash;
}
const ping = (id: number): Promise<string> => send(`0x773acdef${word(id).slice(2)}`, address);

describe.skipIf(!isInstalled('web3'))(`web3.js ${UNLESS_INSTALLED}`, () => {
  beforeAll(async () => {
    chain = await startChainGateway(inject('postgresUrl'));
    const { Web3: Client } = library<{ Web3: new (url: string) => Web3 }>('web3');
    const hash = await send(CONTRACT_CODE);
    address = (await chain.node<{ contractAddress: string }>('eth_getTransactionReceipt', [hash]))
      .contractAddress;
    web3 = new Client(chain.url);
    web3.eth.transactionPollingInterval = 100;
    contract = new web3.eth.Contract(abi, address);
  });
  afterAll(() => chain?.close());

  it('reads blocks, transactions, receipts, logs, balances and fees', async () => {
    const hash = await ping(1);
    const { eth } = web3;
    const receipt = (await eth.getTransactionReceipt(hash)) as { blockNumber: bigint; blockHash: string };
    expect(receipt).toMatchObject({ status: 1n, transactionHash: hash });
    expect(await eth.getChainId()).toBe(31_337n);
    expect(await eth.net.getId()).toBe(31_337n);
    expect(await eth.getBlockNumber()).toBe(receipt.blockNumber);
    expect(await eth.getBlock(receipt.blockNumber, true)).toMatchObject({
      hash: receipt.blockHash,
      transactions: [{ hash }],
    });
    expect(await eth.getBlock(receipt.blockHash)).toMatchObject({ transactions: [hash] });
    expect(await eth.getBlock('finalized')).toMatchObject({ number: 0n });
    expect(await eth.getBlockTransactionCount(receipt.blockHash)).toBe(1n);
    expect(await eth.getBlockUncleCount(receipt.blockNumber)).toBe(0n);
    expect(await eth.getTransaction(hash)).toMatchObject({ hash, blockNumber: receipt.blockNumber });
    expect(await eth.getTransactionFromBlock(receipt.blockNumber, 0)).toMatchObject({ hash });
    expect(await eth.getBalance(address)).toBe(0n);
    expect(await eth.getBalance(DEV_ACCOUNT.address, receipt.blockNumber)).toBeGreaterThan(0n);
    expect(await eth.getTransactionCount(DEV_ACCOUNT.address)).toBeGreaterThan(1n);
    expect(await eth.getCode(address)).toBe(`0x${CONTRACT_CODE.slice(26)}`);
    expect(await eth.getStorageAt(address, 0)).toBe(word(0));
    expect(await eth.getProof(address, [word(0)], 'latest')).toMatchObject({ balance: 0n });
    const logs = await eth.getPastLogs({ address, fromBlock: receipt.blockNumber });
    expect(logs).toMatchObject([{ transactionHash: hash }]);
    expect(await eth.getGasPrice()).toBeGreaterThan(0n);
    expect(await eth.getFeeHistory(2, 'latest', [25, 75])).toMatchObject({
      gasUsedRatio: expect.any(Array),
    });
    expect(await eth.calculateFeeData()).toMatchObject({ maxFeePerGas: expect.any(BigInt) });
    expect(await eth.isSyncing()).toBe(false);
    expect(await eth.getNodeInfo()).toMatch(/^Packhouse\//);
    await expect(eth.getTransactionReceipt(word(9))).rejects.toThrow('Transaction not found');
  });

  it('reads contracts, their events, and what they revert with', async () => {
    await ping(3);
    expect(await contract.methods.get(42).call()).toBe(42n);
    await expect(contract.methods.refuse().call()).rejects.toMatchObject({
      cause: { message: expect.stringContaining('not today') },
    });
    await expect(contract.methods.climb(7).call()).rejects.toMatchObject({
      cause: { errorName: 'TooLow', errorArgs: { height: 7n } },
    });
    const gas = await contract.methods.ping(4).estimateGas({ from: DEV_ACCOUNT.address });
    expect(gas).toBeGreaterThan(21_000n);
    const events = await contract.getPastEvents('Ping', { fromBlock: 0, toBlock: 'latest' });
    expect(events.at(-1)?.returnValues.id).toBe(3n);
  });

  it('sends batches', async () => {
    const batch = new web3.BatchRequest();
    const answers = [
      batch.add({ method: 'eth_chainId', params: [] }),
      batch.add({ method: 'eth_getBalance', params: [address, 'latest'] }),
    ];
    await batch.execute();
    expect(await Promise.all(answers)).toEqual(['0x7a69', '0x0']);
  });

  it('watches blocks and events by the filters that it polls, each once', async () => {
    const { eth } = web3;
    const blocks = await eth.createNewBlockFilter();
    const events = await eth.createNewFilter({ address, topics: [] });
    const waiting = await eth.createNewPendingTransactionFilter();
    const seen: { blocks: unknown[]; ids: number[]; waiting: unknown[] } = {
      blocks: [],
      ids: [],
      waiting: [],
    };
    const poll = async (): Promise<void> => {
      seen.blocks.push(...((await eth.getFilterChanges(blocks)) as unknown[]));
      const logs = (await eth.getFilterChanges(events)) as { topics: string[] }[];
      seen.ids.push(...logs.map(({ topics }) => Number(topics[1])));
      seen.waiting.push(...((await eth.getFilterChanges(waiting)) as unknown[]));
    };
    const until = (check: () => void): Promise<void> =>
      vi.waitFor(async () => poll().then(check), { timeout: 120_000, interval: 100 });
    const hashes: unknown[] = [];
    for (const id of [11, 12]) {
      const hash = await ping(id);
      hashes.push(
        ((await chain.node('eth_getTransactionByHash', [hash])) as { blockHash: string }).blockHash,
      );
    }
    await until(() => expect(seen).toMatchObject({ blocks: hashes, ids: [11, 12] }));
    const sent = await chain.node('eth_sendTransaction', [
      { from: DEV_ACCOUNT.address, to: address, gas: '0x7a120' },
    ]);
    await until(() => expect(seen.waiting).toContain(sent));
    await poll();
    expect(seen).toMatchObject({ blocks: hashes, ids: [11, 12] });
    expect(await eth.getFilterLogs(events)).toMatchObject([{ topics: [expect.any(String), word(12)] }]);
    for (const filter of [blocks, events, waiting]) expect(await eth.uninstallFilter(filter)).toBe(true);
    await chain.node('anvil_mine', ['0x1']);
  });

  it('signs transactions, sends them and waits for their receipts', async () => {
    const { eth } = web3;
    const data = contract.methods.ping(21).encodeABI();
    const fees = (await eth.calculateFeeData()) as { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };
    const signed = await eth.accounts.signTransaction(
      {
        to: address,
        data,
        gas: 100_000,
        chainId: 31_337,
        nonce: await eth.getTransactionCount(DEV_ACCOUNT.address, 'pending'),
        maxFeePerGas: fees.maxFeePerGas,
        maxPriorityFeePerGas: fees.maxPriorityFeePerGas,
      },
      DEV_ACCOUNT.key,
    );
    const receipt = eth.sendSignedTransaction(signed.rawTransaction);
    await vi.waitFor(
      async () => {
        const { pending } = await chain.node<{ pending: string }>('txpool_status');
        expect(Number(pending)).toBe(1);
      },
      { timeout: 120_000 },
    );
    await chain.node('anvil_mine', ['0x1']);
    expect(await receipt).toMatchObject({ status: 1n, logs: [{ topics: [expect.any(String), word(21)] }] });
  });
});
