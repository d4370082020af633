import { FEE_MARKET, SIGNATURE } from './encodings.js';
import {
  AURA_HEADER,
  AVALANCHE_HEADER,
  ETHEREUM,
  ETHEREUM_HEADER,
  GAS_AND_SIZE,
  GAS_ONLY,
  like,
  NO_CHECKS,
} from './ethereum.js';
import { fields, type HeaderPart, type RuleSet, type TypeRule } from './rule-set.js';

/** Ethereum without the deposits of the OP stack. */
const PLAIN: RuleSet = { ...ETHEREUM, types: new Map() };

/** Polygon: transactions of a state sync are in no root until they got a type of their own (PIP-74). */
const POLYGON = like(PLAIN, {
  name: 'polygon',
  chains: [137, 80_002],
  source: 'maticnetwork/bor: core/types/bor_receipt.go; PIP-74',
  types: new Map<string, TypeRule>([
    ['0x7f', { unknown: 'a state sync of type 0x7f (PIP-74) is encoded with data that the JSON-RPC lacks' }],
  ]),
  outside: 'stateSync',
  checks: { ...GAS_AND_SIZE, prices: 'equal', logs: true },
});

/** Gnosis: sealed by Authority Round until its merge, when the difficulty became 0. */
const GNOSIS = like(PLAIN, {
  name: 'gnosis',
  chains: [100, 10_200],
  source: 'erigontech/erigon: execution/types/block.go (AuRaStep, AuRaSeal)',
  eras: [
    {
      label: 'before the merge (Authority Round)',
      applies: ({ difficulty }) => typeof difficulty === 'string' && !/^0x0*$/.test(difficulty),
      rules: { header: AURA_HEADER },
    },
  ],
});

/** Opera of Fantom, and Sonic, which was made from it. */
const FANTOM = like(PLAIN, {
  name: 'fantom',
  chains: [250, 4_002, 146, 57_054],
  source: 'blocks 2 and 12911679 of Fantom: hashes of transactions and both roots; no real block of Sonic',
  unproved: { header: 'the hash of an Opera block is that of its events, not of an RLP header' },
  checks: GAS_ONLY,
});

const TENDERMINT = 'the hash of a Cronos block is that of its Tendermint block, not of an RLP header';
const DATA_HASH = 'the root in the header of Cronos is that of the Tendermint block';

const CRONOS = like(PLAIN, {
  name: 'cronos',
  chains: [25],
  source: 'evmos/ethermint: rpc/types/utils.go (ExceedBlockGasLimitError); blocks 6541, 68215, 11446765',
  unproved: {
    header: TENDERMINT,
    transactions: DATA_HASH,
    receipts: 'the header of Cronos always has the root of no receipts',
    blooms: 'the bloom in the header of Cronos can have bits of calls that were undone',
  },
  lacksReceipts:
    'a node of Cronos may have no receipt of a transaction that exceeds the gas of its block, and nothing proves one',
  checks: { ...GAS_ONLY, prices: 'equal', logIndex: 'gaps' },
});

const BNB = like(PLAIN, {
  name: 'bnb',
  chains: [56, 97],
  source: 'bnb-chain/bsc: core/types/block.go has the header of Ethereum',
  checks: { ...GAS_AND_SIZE, logs: true },
});

const SETTLED =
  'since Helicon the header of Avalanche has the receipts of the blocks that it settles, not its own';

const AVALANCHE = like(PLAIN, {
  name: 'avalanche',
  chains: [43_114, 43_113],
  source: 'ava-labs/avalanchego: graft/coreth/plugin/evm/customtypes/header_ext.go; ACP-194; two real blocks',
  header: AVALANCHE_HEADER,
  checks: GAS_ONLY,
  eras: [
    {
      label: 'since Helicon',
      applies: ({ settledHeight }) => settledHeight != null,
      rules: { unproved: { receipts: SETTLED, blooms: SETTLED }, checks: NO_CHECKS },
    },
  ],
});

/** Berachain: the public key of the proposer before (BRIP-0004), and its transaction without a signature. */
const BERACHAIN = like(PLAIN, {
  name: 'berachain',
  chains: [80_094, 80_069],
  source: 'berachain/bera-geth: core/types/block.go, tx_pol.go (BRIP-0004)',
  header: [...ETHEREUM_HEADER.slice(0, 21), ...fields('parentProposerPubkey:48')],
  types: new Map<string, TypeRule>([
    [
      '0x7e',
      {
        fields: fields(
          'chainId:quantity from:20 to:20 nonce:quantity gas:quantity gasPrice:quantity input:data',
        ),
      },
    ],
  ]),
  checks: GAS_ONLY,
});

/** Tempo wraps the header of Ethereum. */
const TEMPO_HEADER: readonly HeaderPart[] = [
  ...fields('mainBlockGeneralGasLimit:quantity sharedGasLimit:quantity timestampMillisPart:quantity'),
  { list: ETHEREUM_HEADER },
  {
    of: 'consensusContext',
    list: fields('epoch:integer view:integer parentView:integer proposer:32').map((field) => ({
      ...field,
      of: 'consensusContext',
    })),
  },
];

const TEMPO = like(PLAIN, {
  name: 'tempo',
  chains: [4_217, 42_431, 42_429],
  source: 'tempoxyz/tempo: crates/primitives/src/header.rs; blocks 17708868 and 20660166',
  header: TEMPO_HEADER,
  types: new Map<string, TypeRule>([
    [
      '0x76',
      { unknown: 'type 0x76 has calls and signatures of several kinds, whose encoding is not recomputed' },
    ],
  ]),
  checks: GAS_AND_SIZE,
});

const STABLE = like(PLAIN, {
  name: 'stable',
  chains: [988, 2_201],
  source: 'blocks 42767022 and 59083166 of its test network: hashes of transactions and both roots',
  types: new Map<string, TypeRule>([
    [
      '0x3f',
      {
        fields: [...FEE_MARKET, ...SIGNATURE, ...fields('nonceKey:quantity timeoutTimestamp:quantity')],
      },
    ],
  ]),
  unproved: { header: 'the hash of a Stable block is that of its CometBFT block, not of an RLP header' },
  checks: { ...GAS_ONLY, prices: 'equal', logIndex: 'restarts' },
});

/** HyperEVM: the transactions of price 0 that the system makes are in no root, nor are their receipts. */
const HYPER_EVM = like(PLAIN, {
  name: 'hyperevm',
  chains: [999, 998],
  source: 'hl-archive-node/nanoreth: src/node/primitives/transaction.rs, src/addons/hl_node_compliance.rs',
  outside: 'zeroPrice',
  checks: { ...GAS_AND_SIZE, prices: 'equal' },
});

const BITTENSOR = like(PLAIN, {
  name: 'bittensor',
  chains: [964, 945],
  source: 'polkadot-evm/frontier; block 6646068 of the test network',
  unproved: {
    header: 'the hash of a Bittensor block does not follow from the header fields that its JSON-RPC has',
  },
  checks: GAS_ONLY,
});

/** The rule sets of chains that are no rollups. */
export const OWN_CHAINS: readonly RuleSet[] = [
  POLYGON,
  GNOSIS,
  FANTOM,
  CRONOS,
  BNB,
  AVALANCHE,
  BERACHAIN,
  TEMPO,
  STABLE,
  HYPER_EVM,
  BITTENSOR,
];
