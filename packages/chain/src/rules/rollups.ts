import { FEE_MARKET, SIGNATURE } from './encodings.js';
import { ETHEREUM, GAS_AND_SIZE, GAS_ONLY, like, NO_CHECKS } from './ethereum.js';
import { fields, type RuleSet, type TransactionField, type TypeRule, type Unproved } from './rule-set.js';

/** Leaves all of a block unproved. */
function everything(because: string): Unproved {
  return { header: because, hashes: because, transactions: because, receipts: because, blooms: because };
}

/** Chains of the OP stack: their deposits (type 0x7e) bring their own rules with them, in Ethereum's set too. */
const OPTIMISM = like(ETHEREUM, {
  name: 'optimism',
  chains: [10, 8453, 130, 480, 7_777_777, 34_443, 11_155_420, 84_532, 1_301],
  source: "the OP stack's specification: deposits, Regolith, Canyon, Isthmus; op-alloy: post_exec.rs (0x7d)",
  types: new Map<string, TypeRule | 'deposit'>([
    ...ETHEREUM.types,
    ['0x7d', { fields: fields('input:data'), unwrapped: true }],
  ]),
  fees: ['l1Fee'],
});

/** Source: `core/types/arb_types.go` of Nitro's go-ethereum; field names: its `internal/ethapi`. */
const ARBITRUM_TYPES = new Map<string, TypeRule>([
  ['0x64', { fields: fields('chainId:quantity requestId:32 from:20 to:20 value:quantity') }],
  [
    '0x65',
    {
      fields: fields(
        `chainId:quantity from:20 nonce:quantity maxFeePerGas/gasPrice:quantity gas:quantity to:recipient
         value:quantity input:data`,
      ),
    },
  ],
  [
    '0x66',
    {
      fields: fields(
        `chainId:quantity requestId:32 from:20 maxFeePerGas/gasPrice:quantity gas:quantity to:recipient
         value:quantity input:data`,
      ),
    },
  ],
  [
    '0x68',
    {
      fields: fields(
        `chainId:quantity nonce:quantity from:20 maxFeePerGas/gasPrice:quantity gas:quantity to:recipient
         value:quantity input:data ticketId:32 refundTo:20 maxRefund:quantity submissionFeeRefund:quantity`,
      ),
    },
  ],
  [
    '0x69',
    {
      fields: fields(
        `chainId:quantity requestId:32 from:20 l1BaseFee:quantity depositValue:quantity
         maxFeePerGas/gasPrice:quantity gas:quantity retryTo:recipient retryValue:quantity beneficiary:20
         maxSubmissionFee:quantity refundTo:20 retryData:data`,
      ),
    },
  ],
  ['0x6a', { fields: fields('chainId:quantity input:data') }],
  ['0x78', { unknown: 'a hash of type 0x78 follows from no field' }],
]);

const CLASSIC = 'blocks before Nitro were made by another program, whose hashes and roots are not documented';

/** Arbitrum. The first block of Nitro is 22207817 on Arbitrum One; the others began with Nitro. */
const ARBITRUM = like(ETHEREUM, {
  name: 'arbitrum',
  chains: [42_161, 42_170, 421_614],
  source: "Nitro's go-ethereum: core/types/arb_types.go, internal/ethapi",
  types: ARBITRUM_TYPES,
  fees: ['gasUsedForL1'],
  checks: { ...GAS_AND_SIZE, prices: 'base' },
});

const ARBITRUM_ONE = like(ARBITRUM, {
  name: 'arbitrum-one',
  chains: [42_161],
  source: ARBITRUM.source,
  eras: [
    {
      label: 'before Nitro',
      applies: ({ number }) => number < 22_207_817,
      rules: { unproved: everything(CLASSIC), checks: NO_CHECKS },
    },
  ],
});

/** Nodes give the sender under both names. */
const SENDER: TransactionField = { name: 'from', form: 20, also: 'sender' };

/** Scroll: messages from L1 have type 0x7e, and are no deposits of the OP stack. */
const SCROLL = like(ETHEREUM, {
  name: 'scroll',
  chains: [534_352, 534_351],
  source: 'scroll-tech/go-ethereum: core/types/l1_message_tx.go',
  types: new Map<string, TypeRule>([
    [
      '0x7e',
      { fields: [...fields('queueIndex:quantity gas:quantity to:20 value:quantity input:data'), SENDER] },
    ],
  ]),
  fees: ['l1Fee'],
  checks: GAS_AND_SIZE,
});

const ERA_VM = 'a block of zkSync Era commits to its batch, not by an RLP header, and has no roots';

const ZKSYNC = like(ETHEREUM, {
  name: 'zksync',
  chains: [324, 300],
  source: 'matter-labs/zksync-era: the genesis block as its RPC gives it has zeros for every root',
  types: new Map<string, TypeRule>(['0x71', '0xfe', '0xff'].map((type) => [type, { unknown: ERA_VM }])),
  unproved: everything(ERA_VM),
  checks: NO_CHECKS,
});

const CELO_L1 = 'the header leaves out parts of extraData, which no data here shows';

/** Celo: since block 31056500 an OP stack; CIP-64 (0x7b) and CIP-42 (0x7c) pay fees in other currencies. */
const CELO = like(OPTIMISM, {
  name: 'celo',
  chains: [42_220],
  source: 'celo-org/op-geth: core/types/celo_dynamic_fee_tx_v2.go, celo_receipt.go',
  types: new Map<string, TypeRule | 'deposit'>([
    ...OPTIMISM.types,
    [
      '0x7b',
      {
        fields: [...FEE_MARKET, ...fields<TransactionField>('feeCurrency:recipient'), ...SIGNATURE],
        baseFeeInReceipt: true,
      },
    ],
    ['0x7c', { unknown: 'type 0x7c (CIP-42) was retired before' }],
  ]),
  checks: GAS_ONLY,
  eras: [
    {
      label: 'before the rollup',
      applies: ({ number }) => number < 31_056_500,
      rules: { unproved: everything(CELO_L1), checks: NO_CHECKS },
    },
  ],
});

/** The rule sets of rollups. */
export const ROLLUPS: readonly RuleSet[] = [
  OPTIMISM,
  ARBITRUM_ONE,
  { ...ARBITRUM, chains: [42_170, 421_614] },
  SCROLL,
  ZKSYNC,
  CELO,
];
