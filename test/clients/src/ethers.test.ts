import { Contract, Interface, JsonRpcProvider, type Log, Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { CONTRACT_ABI, CONTRACT_CODE, DEV_ACCOUNT } from './contract.js';
import { type ChainGateway, startChainGateway } from './start-gateway.js';

const abi = new Interface(CONTRACT_ABI);
let chain: ChainGateway;
let provider: JsonRpcProvider;
let from: string;
let address: string;

async function send(data: string, to?: string): Promise<string> {
  const hash = await chain.node<string>('eth_sendTransaction', [{ from, to, data, gas: '0x7a120' }]);
  await chain.node('anvil_mine', ['0x1']);
  return hash;
}
const ping = (id: number): Promise<string> => send(abi.encodeFunctionData('ping', [id]), address);
const getId = (log: Log): number => Number(log.topics[1]);

beforeAll(async () => {
  chain = await startChainGateway(inject('postgresUrl'));
  [from] = (await chain.node<[string]>('eth_accounts')) as [string];
  const hash = await send(CONTRACT_CODE);
  address = (await chain.node<{ contractAddress: string }>('eth_getTransactionReceipt', [hash]))
    .contractAddress;
  provider = new JsonRpcProvider(chain.url, undefined, { pollingInterval: 100 });
});
afterAll(async () => {
  // What is still queued, the uninstalling of filters, goes out with this one.
  await provider?.send('net_version', []);
  provider?.destroy();
  await chain?.close();
});

describe('ethers', () => {
  it('reads blocks, transactions, receipts, logs and storage, in batches of its own', async () => {
    const hash = await ping(1);
    const [network, receipt, transaction, logs, storage, none] = await Promise.all([
      provider.getNetwork(),
      provider.getTransactionReceipt(hash),
      provider.getTransaction(hash),
      provider.getLogs({ address, fromBlock: 0, topics: [abi.getEvent('Ping')?.topicHash as string, null] }),
      provider.getStorage(address, 0),
      provider.getTransaction(`0x${'0'.repeat(64)}`),
    ]);
    expect(network.chainId).toBe(31_337n);
    expect(receipt).toMatchObject({ status: 1, hash });
    expect(transaction).toMatchObject({ hash, blockNumber: receipt?.blockNumber });
    expect(logs.map(getId).at(-1)).toBe(1);
    expect(storage).toBe(`0x${'0'.repeat(64)}`);
    expect(none).toBeNull();
    const block = await provider.getBlock(receipt?.blockNumber as number, true);
    expect(block?.prefetchedTransactions.map((one) => one.hash)).toEqual([hash]);
    expect((await provider.getBlock(receipt?.blockHash as string))?.transactions).toEqual([hash]);
  });

  it('reads balances, code, nonces, fees and what a transaction will cost', async () => {
    const account = DEV_ACCOUNT.address;
    const [balance, code, nonce, fees, gas] = await Promise.all([
      provider.getBalance(account),
      provider.getCode(address),
      provider.getTransactionCount(account),
      provider.getFeeData(),
      provider.estimateGas({ from: account, to: address, data: abi.encodeFunctionData('ping', [1]) }),
    ]);
    expect(balance).toBeGreaterThan(0n);
    expect(code).toBe(`0x${CONTRACT_CODE.slice(26)}`);
    expect(nonce).toBeGreaterThan(1);
    expect(fees.gasPrice).toBeGreaterThan(0n);
    expect(fees.maxPriorityFeePerGas).toBeGreaterThan(0n);
    expect(gas).toBeGreaterThan(21_000n);
  });

  it('reads contracts, and decodes what they revert with', async () => {
    const contract = new Contract(address, CONTRACT_ABI, provider);
    expect(await contract.getFunction('get')(42)).toBe(42n);
    await expect(contract.getFunction('refuse')()).rejects.toMatchObject({
      code: 'CALL_EXCEPTION',
      reason: 'not today',
    });
    await expect(contract.getFunction('climb')(7)).rejects.toMatchObject({
      code: 'CALL_EXCEPTION',
      revert: { name: 'TooLow', args: [7n] },
    });
  });

  it('hears of events, of blocks and of waiting transactions', async () => {
    const [ids, blocks, waiting]: [number[], number[], string[]] = [[], [], []];
    const contract = new Contract(address, CONTRACT_ABI, provider);
    await contract.on('Ping', (id: bigint) => ids.push(Number(id)));
    await provider.on('block', (number: number) => blocks.push(number));
    await provider.on('pending', (hash: string) => waiting.push(hash));
    try {
      for (let id = 100; ids.length === 0; id++) {
        await ping(id);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      for (const id of [11, 12]) await ping(id);
      await vi.waitFor(() => expect(ids.slice(-2)).toEqual([11, 12]), { timeout: 120_000 });
      // It asks for waiting transactions once a block.
      const hashes: string[] = [];
      await vi.waitFor(
        async () => {
          await chain.node('anvil_mine', ['0x1']);
          hashes.push(
            await chain.node<string>('eth_sendTransaction', [{ from, to: address, gas: '0x7a120' }]),
          );
          expect(waiting.some((hash) => hashes.includes(hash))).toBe(true);
        },
        { timeout: 120_000, interval: 1_500 },
      );
      await chain.node('anvil_mine', ['0x1']);
      const head = Number(await chain.node<string>('eth_blockNumber'));
      await vi.waitFor(() => expect(blocks.at(-1)).toBe(head), { timeout: 120_000 });
      expect(new Set(ids).size).toBe(ids.length);
    } finally {
      await provider.removeAllListeners();
      await contract.removeAllListeners();
    }
  });

  it('hears of the new branch of a reorganisation while it watches', async () => {
    const seen: string[] = [];
    const removed: number[] = [];
    const look = (told: { action: string; result?: { result?: unknown }[] }): void => {
      if (told.action !== 'receiveRpcResult') return;
      const logs = (told.result ?? []).flatMap(({ result }) =>
        Array.isArray(result) ? (result as Log[]) : [],
      );
      removed.push(...logs.filter((log) => log.removed).map(getId));
    };
    const filter = { address, topics: [abi.getEvent('Ping')?.topicHash as string] };
    const listen = (log: Log): void => void seen.push(`${log.removed ? '-' : '+'}${getId(log)}`);
    await provider.on('debug', look);
    await provider.on(filter, listen);
    try {
      for (let id = 300; seen.length === 0; id++) {
        await ping(id);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      await ping(31);
      await vi.waitFor(() => expect(seen.at(-1)).toBe('+31'), { timeout: 120_000 });
      await chain.node('anvil_reorg', [1, []]);
      await ping(32);
      await vi.waitFor(() => expect(seen.at(-1)).toBe('+32'), { timeout: 120_000 });
      // It makes an event of another kind of what was undone.
      expect(seen.slice(-2)).toEqual(['+31', '+32']);
      expect(removed).toEqual([31]);
    } finally {
      await provider.off(filter, listen);
      await provider.off('debug', look);
    }
  });

  it('signs transactions, sends them and waits for their receipts', async () => {
    // It keeps an answer for 250 ms, a nonce too, unless told otherwise.
    const sending = new JsonRpcProvider(chain.url, undefined, { pollingInterval: 100, cacheTimeout: -1 });
    const wallet = new Wallet(DEV_ACCOUNT.key, sending);
    const sent = await wallet.sendTransaction({ to: address, data: abi.encodeFunctionData('ping', [41]) });
    const receipt = sent.wait();
    await chain.node('anvil_mine', ['0x1']);
    expect(await receipt).toMatchObject({ status: 1, hash: sent.hash });
    const contract = new Contract(address, CONTRACT_ABI, wallet);
    const written = (await contract.getFunction('ping').send(42)) as typeof sent;
    await chain.node('anvil_mine', ['0x1']);
    expect((await written.wait())?.logs.map((log) => Number(log.topics[1]))).toEqual([42]);
    sending.destroy();
  });
});
