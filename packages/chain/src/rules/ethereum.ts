import { type Checks, fields, type HeaderField, type RuleSet } from './rule-set.js';

/** The header's fields up to `extraData`, which every chain has. */
const FRONTIER = fields(
  `parentHash:32 sha3Uncles:32 miner:20 stateRoot:32 transactionsRoot:32 receiptsRoot:32 logsBloom:256
   difficulty:quantity number:quantity gasLimit:quantity gasUsed:quantity timestamp:quantity extraData:data`,
);

/** Proof of work; since the merge the beacon chain's randomness and zeros (EIP-3675, EIP-4399). */
const SEALS = fields('mixHash:32 nonce:8');

const BASE_FEE = fields('baseFeePerGas:quantity');

/**
 * The fields that forks appended, each written if the node has it: EIP-1559 (London), EIP-4895 (Shanghai), EIP-4844 and
 * EIP-4788 (Cancun), EIP-7685 (Prague; Osaka adds none), EIP-7928 and EIP-7843 (Amsterdam).
 */
const FORKS = [
  ...BASE_FEE,
  ...fields(
    `withdrawalsRoot:32 blobGasUsed:quantity excessBlobGas:quantity parentBeaconBlockRoot:32 requestsHash:32
     blockAccessListHash:32 slotNumber:quantity`,
  ),
];

/** Ethereum's header. */
export const ETHEREUM_HEADER: readonly HeaderField[] = [...FRONTIER, ...SEALS, ...FORKS];

/**
 * The last header field of each fork, and the Unix time since when a chain has it (`params/config.go` of go-ethereum;
 * London by its block): a block that lacks it has another name for it, not a field of a new fork.
 */
export const FORK_TIMES: ReadonlyMap<
  number | undefined,
  readonly (readonly [since: number, field: HeaderFieldName])[]
> = new Map([
  [
    1,
    [
      [1_628_166_822, 'baseFeePerGas'],
      [1_681_338_455, 'withdrawalsRoot'],
      [1_710_338_135, 'parentBeaconBlockRoot'],
      [1_746_612_311, 'requestsHash'],
    ],
  ],
  [
    11_155_111,
    [
      [1_677_557_088, 'withdrawalsRoot'],
      [1_706_655_072, 'parentBeaconBlockRoot'],
      [1_741_159_776, 'requestsHash'],
      [1_791_294_816, 'slotNumber'],
    ],
  ],
]);

type HeaderFieldName =
  | 'baseFeePerGas'
  | 'withdrawalsRoot'
  | 'parentBeaconBlockRoot'
  | 'requestsHash'
  | 'slotNumber';

/** A header sealed by Authority Round, before the fields of forks (OpenEthereum, Erigon, Nethermind). */
export const AURA_HEADER: readonly HeaderField[] = [
  ...FRONTIER,
  ...fields('auraStep/step:step auraSeal/signature:seal'),
  ...BASE_FEE,
];

/**
 * Avalanche's C-Chain: `plugin/evm/customtypes` of coreth. The last six fields came with Helicon, in the order that makes
 * the hash of block 58119344 of its test network.
 */
export const AVALANCHE_HEADER: readonly HeaderField[] = [
  ...FRONTIER,
  ...SEALS,
  ...fields('extDataHash:32'),
  ...BASE_FEE,
  ...fields(
    `extDataGasUsed:quantity blockGasCost:quantity blobGasUsed:quantity excessBlobGas:quantity parentBeaconBlockRoot:32
     timestampMilliseconds:quantity minDelayExcess:quantity targetExponent:quantity minPriceExponent:quantity
     settledHeight:quantity settledGasUnix:quantity settledGasNumerator:quantity settledExcess:quantity`,
  ),
];

/** All of Ethereum's rules. */
const ALL: Checks = {
  sums: true,
  total: 'equal',
  size: true,
  prices: 'equal',
  addresses: true,
  logs: true,
  logIndex: 'block',
};

/** Only what a block's parts repeat of each other: for chains whose own rules are not known in every detail. */
export const GAS_ONLY: Checks = { ...ALL, size: false, prices: 'most', addresses: false, logs: false };

/** The same of chains whose real blocks have the size of their RLP. */
export const GAS_AND_SIZE: Checks = { ...GAS_ONLY, size: true };

/** Gas that must not fall: for chains whose rules are not known. */
export const NO_CHECKS: Checks = { ...GAS_ONLY, sums: false, total: 'any' };

/** The same of a block of a fork that is not known. */
export const UNKNOWN_FORK: Checks = { ...NO_CHECKS };

/** Ethereum, its test networks, and every chain that no table names. */
export const ETHEREUM: RuleSet = {
  name: 'ethereum',
  chains: [1, 11_155_111, 17_000, 560_048],
  source:
    'Yellow Paper; EIPs 658, 1559, 2718, 2930, 4844, 4895, 7685, 7702; Amsterdam: 7778, 7843, 7928, 8037',
  header: ETHEREUM_HEADER,
  types: new Map([['0x7e', 'deposit']]),
  outside: 'none',
  unproved: {},
  checks: ALL,
  eras: [],
};

/** The base of a rule set that differs from Ethereum's. */
export function like(
  base: RuleSet,
  own: Partial<RuleSet> & Pick<RuleSet, 'name' | 'chains' | 'source'>,
): RuleSet {
  return { ...base, eras: [], ...own };
}
