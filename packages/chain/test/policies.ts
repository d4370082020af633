import type { ProofPolicy } from '../src/prove/proved-block.js';

/** The policy of each recorded network; what is trusted is what the recording lacks. */
export const POLICIES: Readonly<Record<string, Partial<ProofPolicy>>> = {
  ethereum_mainnet: { chainId: 1 },
  'constructed-amsterdam': { chainId: 1 },
  'amsterdam-devnet': {},
  sepolia: { chainId: 11_155_111, transactions: 'trust', receipts: 'trust' },
  'arb-sepolia': { chainId: 421_614 },
  gnosis: { chainId: 100 },
  scroll: { chainId: 534_352 },
  'scroll-5343513301': { rules: 'scroll' },
  'zksync-shape': { chainId: 324 },
  polygon: { chainId: 137 },
  'polygon 34155965': { chainId: 137, transactions: 'trust', receipts: 'trust' },
  'bittensor-testnet': { chainId: 945 },
  cronos: { chainId: 25 },
  hyperliquid: { chainId: 999 },
  'stable-testnet': { chainId: 2_201 },
  'tempo-mainnet': { chainId: 4_217 },
  fantom: { chainId: 250 },
  // one of its transactions
  'fantom 12911679': { chainId: 250, transactions: 'trust' },
  'parity-aura-99': { rules: 'gnosis' },
  mainnet: { chainId: 1 },
  'bnb-chapel': { chainId: 97 },
};
