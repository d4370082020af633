import { PackhouseError } from '@packhouse/runtime';

/** What a folder of recordings does not say of its blocks. */
interface Note {
  /** The name of the network in the list, if not the one of the line. */
  network?: string;
  chainId?: number;
  /** Why no node gives the block. */
  reason?: string;
  /** Why no node gives a part of it. */
  missing?: Readonly<Record<string, string>>;
  /** Lacks what a node gives, so that it does not pass its own proofs. */
  incomplete?: true;
}

/** By the name in the line; files without names are of `ethereum`, or begin with the name of their network. */
const NETWORKS: Readonly<Record<string, Note>> = {
  ethereum: { chainId: 1 },
  optimism: { chainId: 10 },
  ethereum_mainnet: { chainId: 1 },
  mainnet: { chainId: 1 },
  sepolia: { chainId: 11_155_111 },
  gnosis: { chainId: 100 },
  polygon: { chainId: 137 },
  'arb-sepolia': { chainId: 421_614 },
  scroll: { chainId: 534_352 },
  cronos: { chainId: 25 },
  hyperliquid: { chainId: 999 },
  'bittensor-testnet': { chainId: 945 },
  'stable-testnet': { chainId: 2_201 },
  'tempo-mainnet': { chainId: 4_217 },
  fantom: { chainId: 250 },
  'bnb-chapel': { chainId: 97 },
  'constructed-amsterdam': { reason: 'constructed of a mainnet block and header fields of a later fork' },
  'amsterdam-devnet': { reason: 'of a devnet that exists in the tests of a node program only' },
  'scroll-5343513301': { reason: 'of a devnet that exists in the tests of a verifier only' },
  'zksync-shape': { reason: 'the genesis of a local test node, for its shape' },
  'parity-aura-99': { chainId: 99, reason: 'of POA Core, which was shut down' },
};

const REBUILT = 'rebuilt from another recording, with fewer traces than a node has';

/** By file and number, beside what is known of the network. */
const BLOCKS: Readonly<Record<string, Note>> = {
  'optimism 985465': {
    network: 'optimism-goerli',
    chainId: 420,
    reason: 'of Optimism Goerli, which was shut down',
  },
  'other-networks 34155965': {
    reason: 'trimmed to two of its transactions: the block that a node gives is another one',
  },
  'other-networks 11856337': { incomplete: true },
  'other-networks-3 12911679': {
    reason: 'trimmed to one of its transactions: the block that a node gives is another one',
  },
  'other-networks-3 483920': { incomplete: true },
  'other-networks 13998626': {
    missing: { callTraces: 'call frames in the form of the program that they were taken from' },
  },
};

/** What is known of a line of a file. Throws if the network has no name here. */
export function findNote(file: string, net: string | undefined, number: number): Note & { network: string } {
  const network = net ?? (file.startsWith('optimism') ? 'optimism' : 'ethereum');
  const ofNetwork = NETWORKS[network];
  if (ofNetwork === undefined)
    throw new PackhouseError({
      code: 'USAGE',
      message: `The file ${file} has a block of ${network}, whose chain id is not known.`,
      hint: 'Add the network to test/recordings/src/record/notes.ts.',
    });
  const isRebuilt = /^mainnet-\d{8}-\d{8}$/.test(file);
  return {
    network,
    ...ofNetwork,
    ...(isRebuilt && { missing: { traces: REBUILT } }),
    ...BLOCKS[`${file} ${number}`],
  };
}
